package redisstore_test

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/adapters/redisstore"
	"github.com/toolboundary/toolboundary/domain/evidence"
	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/domain/invocation"
	"github.com/toolboundary/toolboundary/domain/limits"
	"github.com/toolboundary/toolboundary/domain/run"
	"github.com/toolboundary/toolboundary/ports"
	"github.com/toolboundary/toolboundary/ports/record"
)

// quick are options of a store that gives up soon.
func quick(addrs ...string) redisstore.Options {
	return redisstore.Options{
		Addrs: addrs, KeyPrefix: freshPrefix(), Patience: 1500 * time.Millisecond, Try: 300 * time.Millisecond,
	}
}

// patient are options of a store that never gives up while a test runs.
func patient(addrs ...string) redisstore.Options {
	return redisstore.Options{Addrs: addrs, KeyPrefix: freshPrefix(), Patience: time.Minute, Try: 20 * time.Second}
}

// warm lets the server learn the scripts, which a store does by itself at their first use.
func warm(t testing.TB, s *redisstore.Store) {
	t.Helper()
	r := openRun(t, s, run.ID(fresh()))
	rec, err := begin(t.Context(), s, r, call(r, "warm"))
	require.NoError(t, err)
	_, err = s.Settle(t.Context(), answered(t, rec, 100))
	require.NoError(t, err)
	require.NoError(t, s.Refuse(t.Context(), r.ID, r.Incarnation, run.Refusal{Code: fault.QueryRejected}, true))
	_, err = s.Ended(t.Context(), r.ID)
	require.NoError(t, err)
	_, err = s.End(t.Context(), r.ID, run.Completed)
	require.NoError(t, err)
}

func token() string {
	var b [16]byte
	_, _ = rand.Read(b[:])
	return base64.RawURLEncoding.EncodeToString(b[:])
}

func openRun(t testing.TB, s *redisstore.Store, id run.ID, change ...func(*run.Run)) run.Run {
	t.Helper()
	r := run.Run{
		ID: id, Incarnation: token(), TTL: time.Hour, RecordTTL: time.Hour,
		Budget: run.Budget{MaxCalls: 1 << 20, MaxBytes: 1 << 40, MaxRefusals: 1 << 20},
	}
	for _, c := range change {
		c(&r)
	}
	opened, err := s.Open(t.Context(), r)
	require.NoError(t, err)
	return opened
}

var ids atomic.Int64

func fresh() string { return fmt.Sprintf("fresh_call_%d", ids.Add(1)) }

func call(r run.Run, id string) invocation.Record {
	return callOf(r, id, 20)
}

// callOf returns a call with a request of n bytes.
func callOf(r run.Run, id string, n int) invocation.Record {
	request := json.RawMessage(`{"q":"` + strings.Repeat("x", n-8) + `"}`)
	return invocation.Begin(invocation.Key{RunID: r.ID, ToolCallID: id}, token(), "scripted", request)
}

func begin(ctx context.Context, s *redisstore.Store, r run.Run, rec invocation.Record) (invocation.Record, error) {
	begun, err := s.Begin(ctx, rec, r.Incarnation, time.Minute)
	return begun.Record, err
}

var huge = limits.Limits{Request: 1 << 30, Raw: 1 << 30, Record: 1 << 30, AgentResult: 1 << 30}

// answered returns the record in READY with a raw answer of n bytes.
func answered(t testing.TB, rec invocation.Record, n int) invocation.Record {
	t.Helper()
	raw := json.RawMessage(`"` + strings.Repeat("r", n-2) + `"`)
	p := evidence.Projection{AgentResult: json.RawMessage(`{"returned":1}`), Status: evidence.Found}
	next, err := rec.Ready(raw, p, huge, record.EncodedLen)
	require.NoError(t, err)
	return next
}

// encode returns the stored form of a record.
func encode(t testing.TB, rec invocation.Record) []byte {
	t.Helper()
	value, err := record.Encode(rec)
	require.NoError(t, err)
	return value
}

// load returns what another process finds, nil for nothing.
func load(t testing.TB, s *redisstore.Store, rec invocation.Record) *invocation.Record {
	t.Helper()
	found, err := s.Load(t.Context(), rec.RunID, ports.Whole, rec.ToolCallID)
	require.NoError(t, err)
	f, ok := found[rec.ToolCallID]
	if !ok {
		return nil
	}
	require.Nil(t, f.Fault)
	return &f.Record
}

// secrets are words of Redis, of the network and of the test's own keys and values; none may
// be in the text of an error.
var secrets = []string{
	"redis", "127.0.0.1", "dial", "tcp", "EOF", "script", "OOM", "WRONGTYPE", "NOSCRIPT", "READONLY", "timeout",
	"toolboundary:", "call_", "refused",
}

// requireFault requires a fault with this code and no word of what is behind it.
func requireFault(t testing.TB, code fault.Code, err error) {
	t.Helper()
	require.Error(t, err)
	var f *fault.Error
	require.True(t, errors.As(err, &f), "%T", err)
	require.Equal(t, code, f.Code, "%v", errors.Unwrap(f))
	require.Empty(t, f.Detail)
	for _, word := range secrets {
		require.NotContains(t, strings.TrimSuffix(err.Error(), code.Sentence()), word)
	}
	require.Equal(t, fault.New(code).Error(), err.Error())
}

// eventually polls until ok. The bound only ends a test that fails.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for limit := time.Now().Add(20 * time.Second); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(limit) {
			require.Fail(t, what)
		}
	}
}
