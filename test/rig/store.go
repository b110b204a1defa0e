package rig

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/toolboundary/toolboundary/adapters/memory"
	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/domain/invocation"
	"github.com/toolboundary/toolboundary/domain/run"
	"github.com/toolboundary/toolboundary/ports"
)

// Store is a memory store that can be down.
type Store struct {
	*memory.Store
	down atomic.Bool
}

func (s *Store) up() error {
	if s.down.Load() {
		return fault.New(fault.StoreUnavailable)
	}
	return nil
}

// Open implements ports.Runs.
func (s *Store) Open(ctx context.Context, r run.Run) (run.Run, error) {
	if err := s.up(); err != nil {
		return run.Run{}, err
	}
	return s.Store.Open(ctx, r)
}

// Find implements ports.Runs.
func (s *Store) Find(ctx context.Context, id run.ID) (run.Run, error) {
	if err := s.up(); err != nil {
		return run.Run{}, err
	}
	return s.Store.Find(ctx, id)
}

// End implements ports.Runs.
func (s *Store) End(ctx context.Context, id run.ID, to run.State) (run.Run, error) {
	if err := s.up(); err != nil {
		return run.Run{}, err
	}
	return s.Store.End(ctx, id, to)
}

// Begin implements ports.Invocations.
func (s *Store) Begin(
	ctx context.Context, rec invocation.Record, incarnation string, lease time.Duration,
) (ports.Begun, error) {
	if err := s.up(); err != nil {
		return ports.Begun{}, err
	}
	return s.Store.Begin(ctx, rec, incarnation, lease)
}

// Settle implements ports.Invocations.
func (s *Store) Settle(ctx context.Context, next invocation.Record) (invocation.Record, error) {
	if err := s.up(); err != nil {
		return invocation.Record{}, err
	}
	return s.Store.Settle(ctx, next)
}

// Load implements ports.Invocations.
func (s *Store) Load(
	ctx context.Context, id run.ID, view ports.View, toolCallIDs ...string,
) (map[string]ports.Found, error) {
	if err := s.up(); err != nil {
		return nil, err
	}
	return s.Store.Load(ctx, id, view, toolCallIDs...)
}

// Refuse implements ports.Refusals.
func (s *Store) Refuse(ctx context.Context, id run.ID, incarnation string, entry run.Refusal, counts bool) error {
	if err := s.up(); err != nil {
		return err
	}
	return s.Store.Refuse(ctx, id, incarnation, entry, counts)
}
