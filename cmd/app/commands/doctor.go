package commands

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/toolboundary/toolboundary/adapters/cli"
	"github.com/toolboundary/toolboundary/config"
)

const (
	// doctorTimeout bounds a whole examination.
	doctorTimeout = 2 * time.Minute
	// slow is the shortest round trip of a server that is called slow.
	slow = 200 * time.Millisecond
	// skewed is the smallest difference of two clocks that is reported: with it, tokens and logs
	// no longer fit together.
	skewed = 5 * time.Second
)

// Doctor examines what a configuration connects to.
type Doctor struct {
	Loader Loader
	// Examiners know the stores and the kinds of data sources; of the others, Tools says whether
	// they answer.
	Examiners []Examiner
	Tools     ToolBuilder
}

// Examiner returns the examinations of those parts of a configuration that it knows.
type Examiner func(c config.Config) []Examination

// Examination is what there is to find out about one subject.
type Examination struct {
	// Source is a data source's id; it is empty for the store.
	Source string
	// Examine connects to the subject and returns what it found.
	Examine func(ctx context.Context) []cli.Finding
}

// Examine examines everything at once. Findings about the configuration come first, then those
// about the store, then those about the data sources, sorted by id.
func (d Doctor) Examine(ctx context.Context, args cli.DoctorArgs) ([]cli.Finding, error) {
	c, err := d.Loader.Load(args.ConfigPath)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, doctorTimeout)
	defer cancel()
	examinations := d.examinations(c)
	results := make([][]cli.Finding, len(examinations))
	var all sync.WaitGroup
	for i, one := range examinations {
		all.Go(func() { results[i] = one.Examine(ctx) })
	}
	all.Wait()
	return slices.Concat(risks(c), slices.Concat(results...)), ctx.Err()
}

// examinations returns one examination of each subject, sorted.
func (d Doctor) examinations(c config.Config) []Examination {
	var list []Examination
	known := map[string]bool{}
	for _, examiner := range d.Examiners {
		for _, one := range examiner(c) {
			list = append(list, one)
			known[one.Source] = true
		}
	}
	for _, id := range c.DataSources.IDs() {
		if !known[id] {
			list = append(list, Examination{id, func(ctx context.Context) []cli.Finding { return d.reach(ctx, c, id) }})
		}
	}
	slices.SortFunc(list, func(a, b Examination) int { return strings.Compare(a.Source, b.Source) })
	return list
}

// risks returns what config check warns of.
func risks(c config.Config) []cli.Finding {
	r := &report{subject: "configuration"}
	for _, w := range c.Warnings() {
		r.warn(w.Path, w.Fix, "%s", w.Message)
	}
	if len(r.found) == 0 {
		r.ok("settings", "nothing risky")
	}
	return r.found
}

// reach examines a data source of which only its tools know anything: it builds them and asks
// whether the data source can be reached.
func (d Doctor) reach(ctx context.Context, c config.Config, id string) []cli.Finding {
	r := &report{subject: id}
	c.DataSources = config.Sources{id: c.DataSources[id]}
	set, err := d.Tools(c)
	if err != nil {
		r.invalid(err)
		return r.found
	}
	defer func() { _ = set.Close(context.WithoutCancel(ctx)) }() // nothing runs any more
	if len(set.Unready(ctx)) > 0 {
		r.fail("connect", "Check its address, its credentials and the network.", "the data source does not answer")
	} else {
		r.ok("connect", "the data source answers")
	}
	return r.found
}

// report collects the findings about one subject.
type report struct {
	subject string
	found   []cli.Finding
}

func (r *report) ok(check, format string, args ...any) {
	r.add(cli.Healthy, check, "", format, args)
}

func (r *report) warn(check, fix, format string, args ...any) {
	r.add(cli.Warning, check, fix, format, args)
}

func (r *report) fail(check, fix, format string, args ...any) {
	r.add(cli.Failing, check, fix, format, args)
}

// invalid reports a part of the configuration that cannot be used.
func (r *report) invalid(err error) {
	r.fail("settings", "Fix the configuration.", "%s", strings.ReplaceAll(err.Error(), "\n", "; "))
}

func (r *report) add(result, check, fix, format string, args []any) {
	r.found = append(r.found, cli.Finding{
		Subject: r.subject, Check: check, Result: result, Detail: fmt.Sprintf(format, args...), Fix: fix,
	})
}

// latency reports the median of a few round trips.
func (r *report) latency(trips []time.Duration) {
	if len(trips) == 0 {
		r.fail("latency", "Check the network and the server's load.", "the server stopped answering")
		return
	}
	slices.Sort(trips)
	median := trips[len(trips)/2].Round(10 * time.Microsecond)
	if median >= slow {
		r.warn("latency", "Run the service nearer to it: every tool call takes several round trips.",
			"a round trip takes %s", median)
		return
	}
	r.ok("latency", "a round trip takes %s", median)
}
