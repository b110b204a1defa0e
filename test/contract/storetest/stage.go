package storetest

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/domain/evidence"
	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/domain/invocation"
	"github.com/toolboundary/toolboundary/domain/limits"
	"github.com/toolboundary/toolboundary/domain/run"
	"github.com/toolboundary/toolboundary/ports"
	"github.com/toolboundary/toolboundary/ports/record"
	"github.com/toolboundary/toolboundary/test/contract/kit"
)

const (
	toolName = "scripted"
	request  = `{ "q":"é<>&\u0000", "n":12345678901234567890, "list":[], "none":{} }`
	raw      = ` {"rows":[],"n":1.10,"big":12345678901234567890,"s":"/\/ é"}`
	agent    = `{"rows":[ ],"returned":0}`
	// long is a time that no case waits for.
	long = time.Hour
)

// stage is one case's store and what the cases do with it.
type stage struct {
	kit.T
	Instance
}

func on(t kit.T, subject Subject) stage {
	s := stage{t, subject.New(t)}
	if s.Patience == 0 {
		s.Patience = 10 * time.Second
	}
	return s
}

// token returns 128 random bits in the form of an owner token.
func token() string {
	var b [16]byte
	_, _ = rand.Read(b[:])
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// plain returns a run that nothing runs out of.
func plain(id run.ID) run.Run {
	return run.Run{
		ID: id, Incarnation: token(), TTL: long, RecordTTL: 2 * long,
		Grants: run.Grants{Tools: []string{toolName, "other"}, DataSources: []string{"shop"}},
		Budget: run.Budget{MaxCalls: 1000, MaxBytes: 1 << 40, MaxRefusals: 1000},
	}
}

// open opens a run of this name, changed by each of the functions.
func (s stage) open(id run.ID, change ...func(*run.Run)) run.Run {
	s.Helper()
	r := plain(id)
	for _, c := range change {
		c(&r)
	}
	opened, err := s.Store.Open(s.Context(), r)
	require.NoError(s, err)
	return opened
}

// call returns a new execution of the tool call.
func call(r run.Run, toolCallID string) invocation.Record {
	key := invocation.Key{RunID: r.ID, ToolCallID: toolCallID}
	return invocation.Begin(key, token(), toolName, json.RawMessage(request))
}

func (s stage) tryBegin(r run.Run, rec invocation.Record) error {
	_, err := s.Store.Begin(s.Context(), rec, r.Incarnation, long)
	return err
}

// begin begins a new call and returns the record as stored.
func (s stage) begin(r run.Run, toolCallID string) invocation.Record {
	s.Helper()
	return s.beginLeased(r, toolCallID, long)
}

func (s stage) beginLeased(r run.Run, toolCallID string, lease time.Duration) invocation.Record {
	s.Helper()
	begun, err := s.Store.Begin(s.Context(), call(r, toolCallID), r.Incarnation, lease)
	require.NoError(s, err)
	return begun.Record
}

// ready returns the record with this answer.
func ready(t kit.T, rec invocation.Record, rawAnswer, result string, status evidence.Status) invocation.Record {
	t.Helper()
	huge := limits.Limits{Request: 1 << 30, Raw: 1 << 30, Record: 1 << 30, AgentResult: 1 << 30}
	shown := evidence.Projection{AgentResult: json.RawMessage(result), Status: status}
	next, err := rec.Ready(json.RawMessage(rawAnswer), shown, huge, record.EncodedLen)
	require.NoError(t, err)
	return next
}

func (s stage) answered(rec invocation.Record) invocation.Record {
	s.Helper()
	return ready(s, rec, raw, agent, evidence.Found)
}

// failed returns the record with a failure and, when not empty, the raw answer kept.
func failed(rec invocation.Record, rawAnswer string) invocation.Record {
	cause := fault.Because(fault.ExecutionFailed, "NOT_GROUPED", `the column "é" is not grouped`)
	if rawAnswer == "" {
		return rec.Failed(cause)
	}
	return rec.FailedWithRaw(json.RawMessage(rawAnswer), cause, limits.Default(), record.EncodedLen)
}

// settle stores the next state and returns the record as stored.
func (s stage) settle(next invocation.Record) invocation.Record {
	s.Helper()
	stored, err := s.Store.Settle(s.Context(), next)
	require.NoError(s, err)
	return stored
}

// load returns what the store knows of a call.
func (s stage) load(id run.ID, toolCallID string) (ports.Found, bool) {
	s.Helper()
	found, err := s.Other.Load(s.Context(), id, ports.Whole, toolCallID)
	require.NoError(s, err)
	f, ok := found[toolCallID]
	require.Len(s, found, map[bool]int{true: 1, false: 0}[ok], "only what was asked for")
	return f, ok
}

// record returns the call's record, which exists.
func (s stage) record(id run.ID, toolCallID string) invocation.Record {
	s.Helper()
	f, ok := s.load(id, toolCallID)
	require.True(s, ok, "there is a record of %q", toolCallID)
	require.Nil(s, f.Fault)
	return f.Record
}

// find returns the run as the other process sees it.
func (s stage) find(id run.ID) run.Run {
	s.Helper()
	r, err := s.Other.Find(s.Context(), id)
	require.NoError(s, err)
	return r
}

// stored returns the bytes that are stored, which exist.
func (s stage) stored(key invocation.Key) string {
	s.Helper()
	value, _ := s.Stored(s, key)
	require.NotNil(s, value, "a value is stored")
	return string(value)
}

// expires returns the record's absolute expiry.
func (s stage) expires(key invocation.Key) time.Time {
	s.Helper()
	value, at := s.Stored(s, key)
	require.NotNil(s, value, "a value is stored")
	require.False(s, at.IsZero(), "the record expires")
	return at
}

// refused requires a fault with this code that says nothing but the code's own sentence, and
// returns it (S23).
func refused(t kit.T, err error, code fault.Code) *fault.Error {
	t.Helper()
	require.Error(t, err)
	var f *fault.Error
	require.True(t, errors.As(err, &f) && f != nil, "every error is a fault, this is %T", err)
	require.Equal(t, code, f.Code)
	require.Equal(t, fault.New(code).Error(), err.Error())
	require.Empty(t, f.Detail)
	return f
}

// codeOf is fault.CodeOf for an adapter's error, which may be a fault that is nil.
func codeOf(err error) fault.Code {
	if err != nil && fault.Of(err) == nil {
		return fault.Internal
	}
	return fault.CodeOf(err)
}

// alike requires two runs to say the same; nil and empty lists are alike.
func alike(t kit.T, want, got run.Run) {
	t.Helper()
	require.Equal(t, tidy(want), tidy(got))
}

func tidy(r run.Run) run.Run {
	r.CreatedAt, r.Deadline = r.CreatedAt.UTC(), r.Deadline.UTC()
	r.Grants = run.Grants{Tools: some(r.Grants.Tools), DataSources: some(r.Grants.DataSources)}
	r.ToolCallIDs, r.Refusals = some(r.ToolCallIDs), some(r.Refusals)
	for i := range r.Refusals {
		r.Refusals[i].At = r.Refusals[i].At.UTC()
	}
	if len(r.Budget.MaxCallsPerTool) == 0 {
		r.Budget.MaxCallsPerTool = nil
	}
	if len(r.Usage.CallsPerTool) == 0 {
		r.Usage.CallsPerTool = nil
	}
	return r
}

func some[E any](list []E) []E { return append([]E{}, list...) }

// same requires two records to be equal in every field and byte.
func same(t kit.T, want, got invocation.Record) {
	t.Helper()
	require.Equal(t, encoded(want), encoded(got))
}

// encoded returns the stored form of a record, or says why it has none.
func encoded(r invocation.Record) string {
	value, err := record.Encode(r)
	if err != nil {
		return fmt.Sprintf("%v: %+v", err, r)
	}
	return string(value)
}

// atOnce calls f n times side by side and returns how often each outcome came; "" is success.
func (s stage) atOnce(n int, f func(i int) error) map[fault.Code]int {
	s.Helper()
	if s.crowd != nil {
		s.crowd.gather(n)
	}
	var (
		start, done sync.WaitGroup
		mu          sync.Mutex
		outcomes    = map[fault.Code]int{}
	)
	start.Add(1)
	for i := range n {
		done.Go(func() {
			start.Wait()
			err := kit.Catch(func() error { return f(i) })
			if s.crowd != nil {
				s.crowd.leave()
			}
			mu.Lock()
			defer mu.Unlock()
			outcomes[codeOf(err)]++
			if codeOf(err) == fault.Internal {
				s.Logf("%v: %v", err, errors.Unwrap(err))
			}
		})
	}
	start.Done()
	done.Wait()
	return outcomes
}

var names atomic.Int64

// fresh returns a tool call id that no other call has.
func fresh() string { return "call_" + strconv.FormatInt(names.Add(1), 10) }

// text returns a JSON string of exactly n bytes, quotes included.
func text(n int) string { return `"` + strings.Repeat("x", n-2) + `"` }
