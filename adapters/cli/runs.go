package cli

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/toolboundary/toolboundary/domain/fault"
)

// Service says where a running service is and where its harness key is kept.
type Service struct {
	URL string
	// KeyFile, when set, is used instead of the environment variable KeyEnv.
	KeyEnv, KeyFile string
	// CAFile holds the authorities that are trusted instead of the system's.
	CAFile string
}

type serviceFlags struct {
	Server  string `env:"TOOLBOUNDARY_SERVER" default:"http://127.0.0.1:8080" placeholder:"URL" help:"The running service."`
	KeyEnv  string `default:"TOOLBOUNDARY_HARNESS_KEY" placeholder:"NAME" help:"Environment variable that holds a harness key."`
	KeyFile string `placeholder:"FILE" help:"File that holds a harness key, instead of a variable."`
	CAFile  string `name:"ca-file" placeholder:"FILE" help:"PEM file with the authorities that are trusted instead of the system's."`
	outputFlag
}

func (f serviceFlags) at() Service { return Service{f.Server, f.KeyEnv, f.KeyFile, f.CAFile} }

type runsCmd struct {
	List   runsListCmd   `cmd:"" help:"One line for each of some runs."`
	Show   runsShowCmd   `cmd:"" help:"One run: budgets, calls with status, time and sizes, refusals with reasons."`
	Cancel runsCancelCmd `cmd:"" help:"Cancel a run; its calls in flight are stopped on every replica."`
}

type runsListCmd struct {
	IDs []string `arg:"" name:"run" help:"Ids of the runs; - reads them from standard input, which may hold lines of the service's log."`
	serviceFlags
}

// maxListed is the most runs that one list asks for: the latest that the input names.
const maxListed = 200

func (c *runsListCmd) Help() string {
	return "There is no call that lists all runs: the store never scans its keys. The service logs one line for " +
		"each call, " +
		"so its log has the ids; the latest 200 different ones are asked for.\n\n" +
		"Example: tail -n 1000 toolboundary.log | toolboundary runs list -"
}

func (c *runsListCmd) Run(e *env) error {
	ids, err := runIDs(c.IDs, e.In)
	if err != nil {
		return err
	}
	entries := make([]listed, 0, len(ids))
	failed := false
	for _, id := range ids {
		body, err := e.do.RunOverview(e.ctx, c.at(), id)
		entry := listed{RunID: id}
		var f *fault.Error
		switch {
		case err == nil:
			err = json.Unmarshal(body, &entry.overview)
		case errors.As(err, &f) && f.Code == fault.RunNotFound:
			entry.Error, err = &faultView{string(f.Code), f.Code.Sentence(), f.Reason, f.Detail}, nil
			failed = true
		}
		if err != nil {
			return err // it concerns the service, not one run
		}
		entries = append(entries, entry)
	}
	if err := c.print(e, entries); err != nil {
		return err
	}
	if failed {
		return ErrReported
	}
	return nil
}

// listed is one run of a list.
type listed struct {
	RunID    string     `json:"run_id"`
	Error    *faultView `json:"error,omitempty"`
	overview overview
}

func (c *runsListCmd) print(e *env, entries []listed) error {
	if c.json() {
		views := make([]any, len(entries))
		for i, entry := range entries {
			views[i] = entry.overview.Run
			if entry.Error != nil {
				views[i] = entry
			}
		}
		return writeJSON(e.Out, map[string]any{"runs": views})
	}
	rows := make([][]string, len(entries))
	for i, entry := range entries {
		v := entry.overview.Run
		rows[i] = []string{
			entry.RunID, string(v.State), v.left(e.clock.Now()), count(v.Usage.Calls, v.Budget.MaxCalls),
			bytesOf(v.Usage.Bytes, v.Budget.MaxBytes), count(v.Usage.Refusals, v.Budget.MaxRefusals),
		}
		if entry.Error != nil {
			rows[i] = []string{entry.RunID, entry.Error.Code, "", "", "", ""}
		}
	}
	return table(e.Out, []string{"run", "state", "deadline", "calls", "bytes", "refusals"}, rows)
}

// runIDs returns the ids given, or those that the lines of the input name: plain ids, or JSON
// objects with the member run_id. Other lines are skipped.
func runIDs(args []string, in io.Reader) ([]string, error) {
	if !slices.Equal(args, []string{"-"}) {
		return args, nil
	}
	var ids []string
	scanner := bufio.NewScanner(in)
	scanner.Buffer(nil, 1<<20)
	for scanner.Scan() {
		line := strings.TrimSpace(scanner.Text())
		var entry struct {
			RunID string `json:"run_id"`
		}
		switch {
		case strings.HasPrefix(line, "{"):
			_ = json.Unmarshal([]byte(line), &entry) // any other line names no run
			line = entry.RunID
		case strings.ContainsAny(line, " \t"):
			continue
		}
		if line == "" {
			continue
		}
		if i := slices.Index(ids, line); i >= 0 {
			ids = slices.Delete(ids, i, i+1) // the latest mention counts
		}
		if ids = append(ids, line); len(ids) > maxListed {
			ids = ids[1:]
		}
	}
	if err := scanner.Err(); err != nil {
		return nil, fmt.Errorf("standard input cannot be read: %w", err)
	}
	if len(ids) == 0 {
		return nil, UsageError{errors.New("standard input names no run")}
	}
	return ids, nil
}

type runsShowCmd struct {
	ID string `arg:"" name:"run" help:"Id of the run."`
	serviceFlags
	Watch    bool          `short:"w" help:"Refresh in place until the run is over."`
	Interval time.Duration `default:"2s" help:"Time between two refreshes."`
}

func (c *runsShowCmd) Help() string {
	return "The key is read from an environment variable or a file, never from the command line.\n\n" +
		"Example: toolboundary runs show run-42 --watch"
}

func (c *runsShowCmd) Run(e *env) error {
	if c.Interval < 100*time.Millisecond {
		return UsageError{errors.New("--interval must be at least 100ms")}
	}
	again := time.NewTicker(c.Interval)
	defer again.Stop()
	for first := true; ; first = false {
		body, err := e.do.RunOverview(e.ctx, c.at(), c.ID)
		if err != nil {
			return err
		}
		var o overview
		if err := json.Unmarshal(body, &o); err != nil {
			return errAnswer
		}
		if c.Watch && !c.json() {
			newFrame(e.Out, first)
		}
		if err := o.print(e.Out, body, c.json(), e.clock.Now()); err != nil {
			return err
		}
		if !c.Watch || o.over(e.clock.Now()) {
			return nil
		}
		select {
		case <-again.C:
		case <-e.ctx.Done():
			return nil // the operator has seen enough
		}
	}
}

var errAnswer = errors.New("the service's answer cannot be read: is it of another version?")

// newFrame clears a terminal, and separates frames elsewhere.
func newFrame(w io.Writer, first bool) {
	f, ok := w.(*os.File)
	if ok {
		info, err := f.Stat()
		ok = err == nil && info.Mode()&os.ModeCharDevice != 0
	}
	switch {
	case ok:
		fmt.Fprint(w, "\x1b[H\x1b[2J\x1b[3J")
	case !first:
		fmt.Fprintln(w, "---")
	}
}

type runsCancelCmd struct {
	ID string `arg:"" name:"run" help:"Id of the run."`
	serviceFlags
}

func (c *runsCancelCmd) Help() string {
	return "Cancelling a cancelled run changes nothing; a completed one cannot be cancelled.\n\n" +
		"Example: toolboundary runs cancel run-42"
}

func (c *runsCancelCmd) Run(e *env) error {
	body, err := e.do.RunCancel(e.ctx, c.at(), c.ID)
	if err != nil {
		return err
	}
	var o overview
	if err := json.Unmarshal(body, &o); err != nil {
		return errAnswer
	}
	return o.print(e.Out, body, c.json(), e.clock.Now())
}
