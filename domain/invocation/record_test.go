package invocation_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/domain/evidence"
	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/domain/invocation"
	"github.com/toolboundary/toolboundary/domain/limits"
)

var owner = strings.Repeat("o", invocation.OwnerLength)

// size measures a record as a store might: its bodies and something for the rest.
func size(r invocation.Record) int {
	return 100 + len(r.Request) + len(r.RawResponse) + len(r.AgentResult)
}

func begun(request string) invocation.Record {
	return invocation.Begin(invocation.Key{RunID: "r1", ToolCallID: "call_1"}, owner, "fake", json.RawMessage(request))
}

func TestS01_ToolCallID(t *testing.T) {
	for id, ok := range map[string]bool{
		"call_0": true, "toolu_01A": true, "functions.query:0": true, "!": true, "~!#{}[]": true,
		strings.Repeat("a", invocation.MaxToolCallID): true,
		"": false, " ": false, "a b": false, "a\n": false, "a\"": false, "a'": false, `a\`: false, ".": false,
		"..": false,
		"é":  false, "\x7f": false, strings.Repeat("a", invocation.MaxToolCallID+1): false,
	} {
		t.Run(fmt.Sprintf("%.20q", id), func(t *testing.T) {
			err := invocation.CheckToolCallID(id)
			if ok {
				require.NoError(t, err)
			} else {
				require.Equal(t, fault.ToolCallIDInvalid, fault.CodeOf(err))
			}
		})
	}
}

func TestS14_TerminalIsFinal(t *testing.T) {
	p := evidence.Projection{AgentResult: json.RawMessage(`{}`), Status: evidence.Found}
	ready, err := begun(`{}`).Ready(json.RawMessage(`1`), p, limits.Default(), size)
	require.NoError(t, err)
	_, err = ready.Ready(json.RawMessage(`1`), p, limits.Default(), size)
	require.Equal(t, fault.Internal, fault.CodeOf(err))

	late := ready.Interrupted(fault.RunDeadlineExceeded)
	require.Equal(t, invocation.Error, late.Status)
	require.Equal(t, evidence.Error, late.EvidenceStatus)
	require.JSONEq(t, `1`, string(late.RawResponse), "raw is kept")
	require.Nil(t, late.AgentResult)
	require.False(t, late.Referencable())
	require.NotEqual(t, ready.Digest, late.Digest)

	spent := ready.Exhausted()
	require.Equal(t, fault.RunBytesExhausted, spent.ErrorCode)
	require.Nil(t, spent.RawResponse)
	require.Zero(t, spent.Bytes(), "what was not kept is not charged")
}

func TestS13_ReadyNeedsEvidence(t *testing.T) {
	for name, p := range map[string]evidence.Projection{
		"an error":       {AgentResult: json.RawMessage(`{}`), Status: evidence.Error},
		"no status":      {AgentResult: json.RawMessage(`{}`)},
		"another status": {AgentResult: json.RawMessage(`{}`), Status: "EVIDENCE"},
		"no result":      {Status: evidence.Found},
		"no JSON":        {AgentResult: json.RawMessage(`{`), Status: evidence.Found},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := begun(`{}`).Ready(json.RawMessage(`1`), p, limits.Default(), size)
			require.Equal(t, fault.ProjectionFailed, fault.CodeOf(err))
		})
	}
}

// free are limits that nothing reaches.
var free = limits.Limits{Request: 1 << 20, Raw: 1 << 20, Record: 1 << 20, AgentResult: 1 << 20}

func TestS20_S22_AnAnswerAtItsLimitsPassesOneByteMoreDoesNot(t *testing.T) {
	raw, agent := json.RawMessage(`"ééé"`), json.RawMessage(`{"a":"é"}`)
	p := evidence.Projection{AgentResult: agent, Status: evidence.Found}
	for name, c := range map[string]struct {
		at     func(l *limits.Limits, less int)
		reason string
	}{
		"raw":   {func(l *limits.Limits, less int) { l.Raw = limits.RawBytes(len(raw) - less) }, ""},
		"agent": {func(l *limits.Limits, less int) { l.AgentResult = limits.AgentBytes(len(agent) - less) }, ""},
		"record": {func(l *limits.Limits, less int) {
			l.Record = limits.RecordBytes(100 + len(`{}`) + len(raw) + len(agent) - less)
		}, "RECORD"},
	} {
		t.Run(name, func(t *testing.T) {
			l := free
			c.at(&l, 0)
			ready, err := begun(`{}`).Ready(raw, p, l, size)
			require.NoError(t, err)
			require.Equal(t, invocation.Ready, ready.Status)
			require.Equal(t, evidence.Found, ready.EvidenceStatus)
			require.Equal(t, invocation.Sizes{Request: 2, RawResponse: len(raw), AgentResult: len(agent)}, ready.Sizes)
			require.EqualValues(t, len(raw)+len(agent), ready.Bytes(), "the request is charged at the beginning")
			require.True(t, ready.Referencable())

			c.at(&l, 1)
			same, err := begun(`{}`).Ready(raw, p, l, size)
			require.Equal(t, fault.ResultTooLarge, fault.CodeOf(err))
			require.Equal(t, c.reason, fault.Of(err).Reason)
			require.Equal(t, begun(`{}`), same, "the record stays as it was")
		})
	}
}

func TestS22_AFailureKeepsItsRawResponseWholeOrNotAtAll(t *testing.T) {
	raw := json.RawMessage(`"` + strings.Repeat("x", 98) + `"`)
	whole := 100 + len(`{}`) + len(raw)
	for name, c := range map[string]struct {
		cause error
		raw   limits.RawBytes
		whole limits.RecordBytes
		kept  bool
	}{
		"within both limits":        {fault.New(fault.ProjectionFailed), 1 << 20, 1 << 20, true},
		"at both limits":            {fault.New(fault.ProjectionFailed), 100, limits.RecordBytes(whole), true},
		"above its own limit":       {fault.New(fault.ProjectionFailed), 99, 1 << 20, false},
		"above the record's limit":  {fault.New(fault.ProjectionFailed), 1 << 20, limits.RecordBytes(whole - 1), false},
		"an agent result too large": {fault.New(fault.ResultTooLarge), 1 << 20, 1 << 20, true},
		"a record too large": {
			fault.Because(fault.ResultTooLarge, "RECORD", ""), 1 << 20, 1 << 20, false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := free
			l.Raw, l.Record = c.raw, c.whole
			failed := begun(`{}`).FailedWithRaw(raw, c.cause, l, size)
			require.Equal(t, invocation.Error, failed.Status)
			require.Equal(t, fault.CodeOf(c.cause), failed.ErrorCode)
			require.JSONEq(t, `{}`, string(failed.Request), "the request is kept")
			if c.kept {
				require.Equal(t, string(raw), string(failed.RawResponse))
				require.Equal(t, len(raw), failed.Sizes.RawResponse)
			} else {
				require.Nil(t, failed.RawResponse)
				require.Zero(t, failed.Sizes.RawResponse)
			}
			require.Zero(t, failed.Sizes.AgentResult)
		})
	}
}

func TestS23_AFailureIsSafeToShow(t *testing.T) {
	long := strings.Repeat("é", 1000)
	failed := begun(`{}`).Failed(fault.Because(fault.QueryRejected, long, long))
	require.Equal(t, fault.QueryRejected, failed.ErrorCode)
	require.Equal(t, strings.Repeat("é", invocation.MaxReason/2), failed.ErrorReason)
	require.Equal(t, strings.Repeat("é", invocation.MaxDetail/2), failed.ErrorDetail)
	odd := begun(`{}`).Failed(fault.Because(fault.QueryRejected, "x"+long, ""))
	require.Equal(t, "x"+strings.Repeat("é", invocation.MaxReason/2-1), odd.ErrorReason, "no character is cut")

	unknown := begun(`{}`).Failed(fault.Because("MY_OWN_CODE", "reason", "detail"))
	require.Equal(t, fault.Internal, unknown.ErrorCode, "the list of codes is closed")
	require.Empty(t, unknown.ErrorReason+unknown.ErrorDetail)
	require.Equal(t, fault.Internal, begun(`{}`).Failed(errors.New("text of a driver")).ErrorCode)
}

// TestS14_TheDigestCoversEverything changes each thing that a settlement says.
func TestS14_TheDigestCoversEverything(t *testing.T) {
	answer := func(request, raw, agent string, s evidence.Status) invocation.Record {
		p := evidence.Projection{AgentResult: json.RawMessage(agent), Status: s}
		r, err := begun(request).Ready(json.RawMessage(raw), p, free, size)
		require.NoError(t, err)
		return r
	}
	seen := map[string]string{}
	for name, r := range map[string]invocation.Record{
		"answer": answer(`{}`, `11`, `22`, evidence.Found), "evidence": answer(`{}`, `11`, `22`, evidence.None),
		"request": answer(`{ }`, `11`, `22`, evidence.Found), "raw": answer(`{}`, `12`, `22`, evidence.Found),
		"agent": answer(`{}`, `11`, `23`, evidence.Found), "bounds of parts": answer(`{}`, `112`, `2`, evidence.Found),
		"error":  begun(`{}`).Failed(fault.New(fault.ExecutionFailed)),
		"code":   begun(`{}`).Failed(fault.New(fault.ExecutionLost)),
		"reason": begun(`{}`).Failed(fault.Because(fault.ExecutionFailed, "A", "")),
		"detail": begun(`{}`).Failed(fault.Because(fault.ExecutionFailed, "", "A")),
	} {
		require.Len(t, r.Digest, invocation.OwnerLength)
		require.Empty(t, seen[r.Digest], "%s and %s", name, seen[r.Digest])
		seen[r.Digest] = name
	}
	require.Equal(t, answer(`{}`, `11`, `22`, evidence.Found).Digest, answer(`{}`, `11`, `22`, evidence.Found).Digest)
	require.Equal(t, begun(`{}`).Failed(fault.New(fault.ExecutionLost)), begun(`{}`).Lost())
}
