package redisstore

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/domain/run"
)

// Open implements ports.Runs: one round trip.
func (s *Store) Open(ctx context.Context, r run.Run) (run.Run, error) {
	constant, err := json.Marshal(constants{
		ID: r.ID, TTL: r.TTL, RecordTTL: r.RecordTTL, Grants: r.Grants, Budget: r.Budget,
	})
	if err != nil {
		return run.Run{}, fault.Wrap(fault.Internal, err)
	}
	afterDeadline := r.Forgotten().Sub(r.Deadline)
	args := []any{
		r.Incarnation, r.TTL.Milliseconds(), r.RecordTTL.Milliseconds(), afterDeadline.Milliseconds(), constant,
		r.Budget.MaxCalls, r.Budget.MaxBytes, r.Budget.MaxRefusals,
	}
	for tool, most := range r.Budget.MaxCallsPerTool {
		args = append(args, tool, most)
	}
	a, _, err := s.execute(ctx, call{script: openScript, keys: []string{s.keys.run(r.ID)}, args: args}, nil)
	return opened(r.ID, a, err)
}

// Find implements ports.Runs: one round trip.
func (s *Store) Find(ctx context.Context, id run.ID) (run.Run, error) {
	var ledger *redis.MapStringStringCmd
	if _, err := s.reads(ctx, id, func(p redis.Pipeliner) { ledger = p.HGetAll(ctx, s.keys.run(id)) }); err != nil {
		return run.Run{}, err
	}
	fields, err := ledger.Result()
	switch {
	case err != nil:
		return run.Run{}, fault.Wrap(fault.Internal, err)
	case len(fields) == 0:
		return run.Run{}, fault.New(fault.RunNotFound)
	}
	return parseLedger(id, fields)
}

// End implements ports.Runs: one round trip, in which the end is also published.
func (s *Store) End(ctx context.Context, id run.ID, to run.State) (run.Run, error) {
	a, _, err := s.execute(ctx, call{
		script: endScript, keys: []string{s.keys.run(id)}, args: []any{string(to), s.keys.channel(), string(id)},
	}, nil)
	return opened(id, a, err)
}

// opened reads the answer to Open and End: the whole ledger.
func opened(id run.ID, a answer, err error) (run.Run, error) {
	if err != nil {
		return run.Run{}, err
	}
	if a.code != "OK" {
		return run.Run{}, faultOf(a)
	}
	fields := map[string]string{}
	if len(a.rest) == 1 {
		list, _ := a.rest[0].([]any)
		for i := 0; i+1 < len(list); i += 2 {
			name, _ := list[i].(string)
			fields[name], _ = list[i+1].(string)
		}
	}
	return parseLedger(id, fields)
}

// Refuse implements ports.Refusals: one round trip.
func (s *Store) Refuse(ctx context.Context, id run.ID, incarnation string, entry run.Refusal, counts bool) error {
	entry.At = time.Time{} // the script adds the time
	line, err := json.Marshal(entry)
	if err != nil {
		return fault.Wrap(fault.Internal, err)
	}
	var random [12]byte
	_, _ = rand.Read(random[:]) // never fails: crypto/rand ends the process instead
	token := base64.RawURLEncoding.EncodeToString(random[:])
	counted := 0
	if counts {
		counted = 1
	}
	a, _, err := s.execute(ctx, call{
		script: refuseScript, keys: []string{s.keys.run(id)},
		args: []any{incarnation, counted, line, run.MaxRefusalLog, token, 0},
	}, func(c *call) { c.args = append(c.args[:5:5], 1) }) // look for the token: this refusal may be in the log
	if err != nil {
		return err
	}
	if a.code != "OK" {
		return faultOf(a)
	}
	return nil
}
