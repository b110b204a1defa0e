package promquery

import (
	"context"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/toolboundary/toolboundary/adapters/promquery/promguard"
)

// Unready asks every source at once to evaluate the number 1, and returns how many don't.
func (t *Executor) Unready(ctx context.Context) int {
	var down atomic.Int32
	var wg sync.WaitGroup
	for _, s := range t.sources {
		wg.Go(func() {
			if !s.answers(ctx, t.clock.Now()) {
				down.Add(1)
			}
		})
	}
	wg.Wait()
	return int(down.Load())
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
