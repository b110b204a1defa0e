package bootstrap

import (
	"context"
	"sync"
	"time"

	"github.com/toolboundary/toolboundary/adapters/httpapi"
	"github.com/toolboundary/toolboundary/application"
	"github.com/toolboundary/toolboundary/ports"
)

const (
	// readyTimeout bounds what /readyz waits for; it answers before a probe gives up.
	readyTimeout = 2 * time.Second
	// readyAge is how long an answer of /readyz is good: it asks for no credentials, and must not
	// be a way to keep the store and the data sources busy.
	readyAge = time.Second
)

// readiness says whether the service can work.
type readiness func(ctx context.Context) httpapi.Readiness

// newReadiness asks all health checks at once, within readyTimeout, at most once per readyAge.
func newReadiness(svc *application.Service, clock ports.Clock, checks []health) readiness {
	var mu sync.Mutex
	var at time.Time
	var last httpapi.Readiness
	return func(ctx context.Context) httpapi.Readiness {
		mu.Lock()
		defer mu.Unlock()
		if at.IsZero() || clock.Now().Sub(at) > readyAge {
			last = ask(context.WithoutCancel(ctx), checks)
			at = clock.Now()
		}
		now := last
		now.Stopping = svc.Stopping()
		return now
	}
}

// ask asks the health checks.
func ask(ctx context.Context, checks []health) httpapi.Readiness {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	down := make([]int, len(checks))
	var all sync.WaitGroup
	for i, check := range checks {
		all.Go(func() { down[i] = len(check.unready(ctx)) })
	}
	all.Wait()
	var r httpapi.Readiness
	for i, check := range checks {
		if check.store {
			r.StoreDown = down[i] > 0
		} else {
			r.DataSourcesDown += down[i]
		}
	}
	return r
}
