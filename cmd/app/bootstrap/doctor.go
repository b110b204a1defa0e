package bootstrap

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
	// doctorTimeout bounds all looks at one subject.
	doctorTimeout = 2 * time.Minute
	// slow is the round trip from which on a server is called slow.
	slow = 200 * time.Millisecond
	// skewed is the difference of clocks from which on tokens and logs no longer fit.
	skewed = 5 * time.Second
)

// looks collects what doctor finds out about one subject.
type looks struct {
	subject string
	found   []cli.Finding
}

func (l *looks) ok(check, format string, args ...any) {
	l.found = append(l.found, cli.Finding{Subject: l.subject, Check: check, Result: cli.Healthy, Detail: fmt.Sprintf(format, args...)})
}

func (l *looks) warn(check, fix, format string, args ...any) {
	l.found = append(l.found, cli.Finding{Subject: l.subject, Check: check, Result: cli.Warning, Detail: fmt.Sprintf(format, args...), Fix: fix})
}

func (l *looks) fail(check, fix, format string, args ...any) {
	l.found = append(l.found, cli.Finding{Subject: l.subject, Check: check, Result: cli.Failing, Detail: fmt.Sprintf(format, args...), Fix: fix})
}

// latency takes the middle of a few round trips.
func (l *looks) latency(trips []time.Duration) {
	if len(trips) == 0 {
		l.fail("latency", "Look at the network and at the server's load.", "the server stopped answering")
		return
	}
	slices.Sort(trips)
	middle := trips[len(trips)/2].Round(10 * time.Microsecond)
	if middle >= slow {
		l.warn("latency", "Run the service nearer to it: every tool call takes several round trips.", "a round trip takes %s", middle)
		return
	}
	l.ok("latency", "a round trip takes %s", middle)
}

// doctor looks at the configuration, the store and every data source, all at once.
func (p *parts) doctor(ctx context.Context, args cli.DoctorArgs) ([]cli.Finding, error) {
	c, err := p.load(args.ConfigPath)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, doctorTimeout)
	defer cancel()
	subjects := []func(context.Context) []cli.Finding{
		func(context.Context) []cli.Finding { return risks(c) },
		func(ctx context.Context) []cli.Finding { return examineStore(ctx, c) },
	}
	for _, id := range c.DataSources.IDs() {
		subjects = append(subjects, func(ctx context.Context) []cli.Finding { return p.examine(ctx, c, id) })
	}
	results := make([][]cli.Finding, len(subjects))
	var all sync.WaitGroup
	for i, look := range subjects {
		all.Go(func() { results[i] = look(ctx) })
	}
	all.Wait()
	return slices.Concat(results...), ctx.Err()
}

// risks are what config check warns of.
func risks(c config.Config) []cli.Finding {
	l := &looks{subject: "configuration"}
	for _, w := range c.Warnings() {
		l.warn(w.Path, w.Fix, "%s", w.Message)
	}
	if len(l.found) == 0 {
		l.ok("settings", "nothing risky")
	}
	return l.found
}

// examine looks at one data source. Of a kind that has no doctor of its own it only knows
// whether its tools can be built.
func (p *parts) examine(ctx context.Context, c config.Config, id string) []cli.Finding {
	if m, ok := c.DataSources[id].(*config.MySQL); ok {
		return examineMySQL(ctx, id, m)
	}
	l := &looks{subject: id}
	one := c
	one.DataSources = config.Sources{id: c.DataSources[id]}
	set, err := p.tools(one, silent)
	switch {
	case err != nil:
		l.fail("settings", "Mend the configuration.", "%s", strings.ReplaceAll(err.Error(), "\n", "; "))
	case set.Unready(ctx) > 0:
		l.fail("connect", "Check its address, its credentials and the network.", "the data source does not answer")
	default:
		l.ok("connect", "the data source answers")
	}
	if err == nil {
		_ = set.Close(context.WithoutCancel(ctx)) // nothing runs any more
	}
	return l.found
}
