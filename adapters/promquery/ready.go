package promquery

import (
	"context"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/toolboundary/toolboundary/adapters/promquery/promguard"
)

// Unready asks every source at once to evaluate the number 1, and returns the ids of those that
// do not answer, in any order.
func (t *Executor) Unready(ctx context.Context) []string {
	var mu sync.Mutex
	var down []string
	var wg sync.WaitGroup
	for id, s := range t.sources {
		wg.Go(func() {
			if !s.answers(ctx, t.clock.Now()) {
				mu.Lock()
				defer mu.Unlock()
				down = append(down, id)
			}
		})
	}
	wg.Wait()
	return down
}

func (s *source) answers(ctx context.Context, now time.Time) bool {
	ctx, cancel := context.WithTimeout(ctx, s.Timeout)
	defer cancel()
	response, err := statement{s, promguard.Statement{Text: "1"}, window{end: now}}.send(ctx)
	if err != nil {
		return false
	}
	defer response.Body.Close()
	_, err = io.Copy(io.Discard, io.LimitReader(response.Body, maxComplaint))
	return err == nil && response.StatusCode == http.StatusOK
}
