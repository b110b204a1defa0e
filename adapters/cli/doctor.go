package cli

import "fmt"

// DoctorArgs are the arguments of doctor.
type DoctorArgs struct{ ConfigPath string }

// The results of one check.
const (
	Healthy = "ok"
	Warning = "warn"
	Failing = "fail"
)

// Finding is the result of one check.
type Finding struct {
	// Subject is configuration, store, or a data source's id.
	Subject string `json:"subject"`
	Check   string `json:"check"`
	Result  string `json:"result"`
	Detail  string `json:"detail"`
	// Fix is what to do; empty when there is nothing to do.
	Fix string `json:"fix,omitempty"`
}

type doctorCmd struct {
	configFlag
	outputFlag
}

func (c *doctorCmd) Help() string {
	return "Checks versions, encryption, the account's privileges, the read-only session (a write must be refused), " +
		"the time " +
		"limit and the kill (a SLEEP must be stopped), the allowlist, and the store's version, eviction policy, " +
		"clock and " +
		"latency. Changes nothing. Exits with 1 when something fails.\n\n" +
		"Example: toolboundary doctor --config toolboundary.yaml"
}

func (c *doctorCmd) Run(e *env) error {
	findings, err := e.do.Doctor(e.ctx, DoctorArgs{c.Path})
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
		err = writeJSON(e.Out, map[string][]Finding{"findings": append([]Finding{}, findings...)})
	} else {
		err = printFindings(e, findings, failed, warned)
	}
	if err == nil && failed > 0 {
		return ErrReported
	}
	return err
}

func printFindings(e *env, findings []Finding, failed, warned int) error {
	rows := make([][]string, len(findings))
	for i, f := range findings {
		rows[i] = []string{f.Result, f.Subject, f.Check, f.Detail}
	}
	if err := table(e.Out, []string{"", "what", "check", "found"}, rows); err != nil {
		return err
	}
	for _, f := range findings {
		if f.Fix != "" {
			if _, err := fmt.Fprintf(e.Out, "%s %s: %s\n", safe(f.Subject), safe(f.Check), safe(f.Fix)); err != nil {
				return err
			}
		}
	}
	_, err := fmt.Fprintf(e.Out, "%d check(s): %d failed, %d warned\n", len(findings), failed, warned)
	return err
}
