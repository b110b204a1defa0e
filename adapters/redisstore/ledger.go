package redisstore

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/domain/invocation"
	"github.com/toolboundary/toolboundary/domain/run"
)

// constants are what never changes in a run; lua/lib.lua lists the fields that do.
type constants struct {
	ID        run.ID        `json:"id"`
	TTL       time.Duration `json:"ttl_ns"`
	RecordTTL time.Duration `json:"record_ttl_ns"`
	Grants    run.Grants    `json:"grants"`
	Budget    run.Budget    `json:"budget"`
}

var errLedger = errors.New("the value is not a ledger of this run")

// placed is a value with its place in an order.
type placed[T any] struct {
	at    int64
	value T
}

func inOrder[T any](list []placed[T]) []T {
	slices.SortFunc(list, func(a, b placed[T]) int { return cmp.Compare(a.at, b.at) })
	var values []T
	for _, p := range list {
		values = append(values, p.value)
	}
	return values
}

// parseLedger returns the run that the fields of a ledger describe, or INTERNAL (S23).
func parseLedger(id run.ID, fields map[string]string) (run.Run, error) {
	r, err := parse(id, fields)
	if err != nil {
		return run.Run{}, fault.Wrap(fault.Internal, err)
	}
	return r, nil
}

func parse(id run.ID, fields map[string]string) (run.Run, error) {
	var c constants
	if err := json.Unmarshal([]byte(fields["j"]), &c); err != nil {
		return run.Run{}, err
	}
	if c.ID != id {
		return run.Run{}, errLedger
	}
	n := numbers{fields: fields}
	r := run.Run{
		ID: id, Incarnation: fields["i"], State: run.State(fields["s"]),
		CreatedAt: time.UnixMilli(n.field("c")).UTC(), Deadline: time.UnixMilli(n.field("d")).UTC(),
		TTL: c.TTL.Truncate(time.Millisecond), RecordTTL: c.RecordTTL.Truncate(time.Millisecond),
		Grants: c.Grants, Budget: c.Budget,
		Usage: run.Usage{
			Calls: n.field("n"), Bytes: n.field("b"), Refusals: n.field("f"), CallsPerTool: map[string]int64{},
		},
	}
	var calls []placed[string]
	var refusals []placed[run.Refusal]
	for name, value := range fields {
		switch kind, rest, _ := strings.Cut(name, ":"); kind {
		case "t":
			r.Usage.CallsPerTool[rest] = n.parse(value)
		case "k":
			place, _, _ := strings.Cut(value[min(len(value), 1+invocation.OwnerLength):], ":")
			calls = append(calls, placed[string]{n.parse(place), rest})
		case "l":
			at, entry, err := parseRefusal(value)
			if err != nil {
				return run.Run{}, err
			}
			refusals = append(refusals, placed[run.Refusal]{at, entry})
		}
	}
	r.ToolCallIDs, r.Refusals = inOrder(calls), inOrder(refusals)
	return r, n.err
}

// parseRefusal reads a line of the log: its number, time and token, then the entry.
func parseRefusal(line string) (int64, run.Refusal, error) {
	var entry run.Refusal
	parts := strings.SplitN(line, ":", 4)
	if len(parts) != 4 {
		return 0, entry, errLedger
	}
	if err := json.Unmarshal([]byte(parts[3]), &entry); err != nil {
		return 0, entry, err
	}
	var n numbers
	place, at := n.parse(parts[0]), n.parse(parts[1])
	entry.At = time.UnixMilli(at).UTC()
	return place, entry, n.err
}

// numbers reads numbers and keeps the first error.
type numbers struct {
	fields map[string]string
	err    error
}

func (n *numbers) field(name string) int64 { return n.parse(n.fields[name]) }

func (n *numbers) parse(s string) int64 {
	v, err := strconv.ParseInt(s, 10, 64)
	if err != nil && n.err == nil {
		n.err = fmt.Errorf("%w: %w", errLedger, err)
	}
	return v
}
