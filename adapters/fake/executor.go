package fake

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/domain/limits"
	"github.com/toolboundary/toolboundary/domain/tool"
	"github.com/toolboundary/toolboundary/ports"
)

// Executor does what each request's Script says and counts what it did. It is safe for
// concurrent use.
type Executor struct {
	description tool.Description
	plan        tool.Plan

	mu       sync.Mutex
	prepared int
	started  int
	running  int
	released chan struct{}
	changed  chan struct{}
}

var _ ports.Executor = (*Executor)(nil)

// NewExecutor returns an executor with this description. Every plan carries the timeout and bounds of
// plan, which may be the zero value.
func NewExecutor(description tool.Description, plan tool.Plan) *Executor {
	return &Executor{description: description, plan: plan, released: make(chan struct{}), changed: make(chan struct{})}
}

// Describe returns the description that the executor was made with.
func (t *Executor) Describe() tool.Description { return t.description }

// Prepare decodes the Script, checks its data source against the scope and refuses when the
// script says so.
func (t *Executor) Prepare(request json.RawMessage, scope tool.Scope) (tool.Plan, error) {
	t.note(func() { t.prepared++ })
	s, err := decodeScript(request)
	if err != nil {
		return tool.Plan{}, err
	}
	if s.PreparePanic != "" {
		panic(s.PreparePanic)
	}
	if s.DataSource != "" {
		if err := scope.Check(s.DataSource); err != nil {
			return tool.Plan{}, err
		}
		if !slices.Contains(t.description.DataSources, s.DataSource) {
			return tool.Plan{}, fault.New(fault.DataSourceUnknown)
		}
	}
	if s.Refuse != nil {
		return tool.Plan{}, fault.Because(s.Refuse.Code, s.Refuse.Reason, s.Refuse.Detail)
	}
	p := t.plan
	p.DataSource, p.Body = s.DataSource, s
	return p, nil
}

// Execute does what the plan's script says.
func (t *Executor) Execute(ctx context.Context, plan tool.Plan, limit limits.RawBytes) (json.RawMessage, error) {
	s, ok := plan.Body.(Script)
	if !ok {
		return nil, fault.New(fault.Internal)
	}
	if err := ctx.Err(); err != nil && s.Do != Deaf {
		return nil, fault.Of(err)
	}
	t.note(func() { t.started++; t.running++ })
	defer t.note(func() { t.running-- })
	return t.act(ctx, s, limit)
}

func (t *Executor) act(ctx context.Context, s Script, limit limits.RawBytes) (json.RawMessage, error) {
	switch s.Do {
	case Fail:
		return nil, fault.Because(s.Code, s.Reason, "")
	case Leak:
		return nil, errors.New(s.Text)
	case Panic:
		panic(s.Text)
	case Garbage:
		return json.RawMessage(s.Text), nil
	case Oversize:
		return json.RawMessage(`"` + strings.Repeat("x", max(s.Bytes-2, 0)) + `"`), nil
	case Flood:
		return flood(s.Bytes, limit)
	case Block:
		<-ctx.Done()
		return nil, fault.Of(ctx.Err())
	case Deaf:
		<-t.release()
	case Hold:
		select {
		case <-t.release():
		case <-ctx.Done():
			return nil, fault.Of(ctx.Err())
		}
	}
	buf := limits.Buffer{Limit: limit}
	if _, err := buf.Write(s.Answer); err != nil {
		return nil, err
	}
	return buf.Bytes(), nil
}

// flood writes n bytes of JSON in small pieces, so that nothing near n is held past the limit.
func flood(n int, limit limits.RawBytes) (json.RawMessage, error) {
	buf := limits.Buffer{Limit: limit}
	if _, err := buf.Write([]byte{'"'}); err != nil {
		return nil, err
	}
	piece := bytes.Repeat([]byte{'x'}, 1024)
	for left := n - 2; left > 0; left -= len(piece) {
		if _, err := buf.Write(piece[:min(left, len(piece))]); err != nil {
			return nil, err
		}
	}
	_, err := buf.Write([]byte{'"'})
	return buf.Bytes(), err
}

// Prepared returns how many requests were judged.
func (t *Executor) Prepared() int { t.mu.Lock(); defer t.mu.Unlock(); return t.prepared }

// Executions returns how many executions began.
func (t *Executor) Executions() int { t.mu.Lock(); defer t.mu.Unlock(); return t.started }

// Running returns how many executions are under way.
func (t *Executor) Running() int { t.mu.Lock(); defer t.mu.Unlock(); return t.running }

// Release lets every execution that holds go on, and those that come later too.
func (t *Executor) Release() {
	t.mu.Lock()
	defer t.mu.Unlock()
	select {
	case <-t.released:
	default:
		close(t.released)
	}
}

// Await returns nil once ok holds of the executor, and the context's error when that ends first.
// It wakes at every start and end of an execution: no polling, no sleep.
func (t *Executor) Await(ctx context.Context, ok func(*Executor) bool) error {
	for {
		t.mu.Lock()
		changed := t.changed
		t.mu.Unlock()
		if ok(t) {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (t *Executor) release() <-chan struct{} { t.mu.Lock(); defer t.mu.Unlock(); return t.released }

func (t *Executor) note(change func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	change()
	close(t.changed)
	t.changed = make(chan struct{})
}
