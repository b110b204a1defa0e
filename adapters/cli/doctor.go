package cli

import "fmt"

// DoctorArgs are the arguments of doctor.
type DoctorArgs struct{ ConfigPath string }

// The results of one look.
const (
	Healthy = "ok"
	Warning = "warn"
	Failing = "fail"
)

// Finding is what doctor says of one thing.
type Finding struct {
	// Subject is store or a data source's id.
	Subject string `json:"subject"`
	Check   string `json:"check"`
	Result  string `json:"result"`
	Detail  string `json:"detail"`
	// Fix is what to do; empty when nothing is.
	Fix string `json:"fix,omitempty"`
}

type doctorCmd struct {
	configFlag
	outputFlag
}

func (c *doctorCmd) Help() string {
	return "Looks at versions, encryption, the account's privileges, the read-only session (a write must be refused), the time limit and the kill (a SLEEP must be stopped), the allowlist, " +
		"and at the store's version, eviction policy, clock and latency. Changes nothing. Exits with 1 when something fails.\n\n" +
		"Example: toolboundary doctor --config toolboundary.yaml"
}

func (c *doctorCmd) Run(r *run) error {
	findings, err := r.do.Doctor(r.ctx, DoctorArgs{c.Path})
	if err != nil {
		return err
	}
	failed, warned := 0, 0
	for _, f := range findings {
		switch f.Result {
		case Failing:
			failed++
		case Warning:
			warned++
		}
	}
	if c.json() {
		err = writeJSON(r.Out, map[string][]Finding{"findings": append([]Finding{}, findings...)})
	} else {
		err = printFindings(r, findings, failed, warned)
	}
	if err == nil && failed > 0 {
		return ErrReported
	}
	return err
}

func printFindings(r *run, findings []Finding, failed, warned int) error {
	rows := make([][]string, len(findings))
	for i, f := range findings {
		rows[i] = []string{f.Result, f.Subject, f.Check, f.Detail}
	}
	if err := table(r.Out, []string{"", "what", "check", "found"}, rows); err != nil {
		return err
	}
	for _, f := range findings {
		if f.Fix != "" {
			if _, err := fmt.Fprintf(r.Out, "%s %s: %s\n", safe(f.Subject), safe(f.Check), safe(f.Fix)); err != nil {
				return err
			}
		}
	}
	_, err := fmt.Fprintf(r.Out, "%d look(s): %d failed, %d warned\n", len(findings), failed, warned)
	return err
}
