package invocation_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/toolboundary/toolboundary/domain/evidence"
	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/domain/invocation"
	"github.com/toolboundary/toolboundary/domain/limits"
)

var owner = strings.Repeat("o", invocation.OwnerLength)

func begun(request string) invocation.Record {
	return invocation.Begin(invocation.Key{RunID: "r1", ToolCallID: "call_1"}, owner, "fake", json.RawMessage(request))
}

func TestS01_ToolCallID(t *testing.T) {
	for id, ok := range map[string]bool{
		"call_0": true, "toolu_01A": true, "functions.query:0": true, strings.Repeat("a", 1024): true, "~!#{}[]": true,
		"": false, " ": false, "a b": false, "a\n": false, "a\"": false, "a'": false, `a\`: false, ".": false, "..": false,
		"é": false, "\x7f": false, strings.Repeat("a", 1025): false,
	} {
		require.Equal(t, ok, invocation.CheckToolCallID(id) == nil, "%q", id)
	}
}

func TestS15_EncodeDecodeIsIdentity(t *testing.T) {
	text := rapid.StringMatching(`[ -~é\t\n"]{0,40}`)
	body := rapid.Custom(func(t *rapid.T) json.RawMessage {
		b, err := json.Marshal(map[string]any{"a": text.Draw(t, "text"), "n": rapid.Int64().Draw(t, "n")})
		require.NoError(t, err)
		return append(json.RawMessage(" "), b...) // a leading blank shows that nothing is re-encoded
	})
	rapid.Check(t, func(t *rapid.T) {
		r := begun("")
		r.Request = body.Draw(t, "request")
		r.Sizes.Request = len(r.Request)
		r.StartedAt = time.UnixMilli(rapid.Int64Range(0, 4e12).Draw(t, "at")).UTC()
		switch rapid.IntRange(0, 2).Draw(t, "status") {
		case 0:
			r.LeaseUntil = r.StartedAt.Add(time.Second)
		case 1:
			var err error
			r, err = r.Ready(body.Draw(t, "raw"), evidence.Projection{AgentResult: body.Draw(t, "agent"), Status: evidence.None}, limits.Default())
			require.NoError(t, err)
		case 2:
			r = r.Failed(fault.Because(fault.ExecutionFailed, "NOT_GROUPED", text.Draw(t, "detail")), body.Draw(t, "raw"), limits.Default())
		}
		value := r.Encode()
		require.True(t, json.Valid(value), "%s", value)
		require.Len(t, value, r.EncodedLen())
		require.Equal(t, invocation.OwnerHead(r.Status, owner), string(value[:invocation.OwnerEnd]))
		require.Equal(t, invocation.Time(r.StartedAt), string(value[invocation.StartedAtOffset:][:invocation.TimeLength]))
		require.Equal(t, invocation.Time(r.CompletedAt), string(value[invocation.CompletedAtOffset:][:invocation.TimeLength]))
		require.Equal(t, invocation.Time(r.LeaseUntil), string(value[invocation.LeaseUntilOffset:][:invocation.TimeLength]))
		back, err := invocation.Decode(value)
		require.NoError(t, err)
		require.Equal(t, r, back)
		head, err := invocation.DecodeHead(value[:min(len(value), invocation.MaxHead)])
		require.NoError(t, err)
		r.Request, r.RawResponse, r.AgentResult = nil, nil, nil
		require.Equal(t, r, head)
	})
}

func TestS23_CorruptIsNeverARecord(t *testing.T) {
	good := begun(`{"a":1}`).Encode()
	_, err := invocation.Decode(good)
	require.NoError(t, err)
	for cut := range good {
		_, err := invocation.Decode(good[:cut])
		require.ErrorIs(t, err, invocation.ErrCorrupt, "cut at %d", cut)
	}
	for _, bad := range []string{"", "null", "{}", strings.Replace(string(good), "PROJECTING", "READY     ", 1),
		strings.Replace(string(good), `"schema":1`, `"schema":2`, 1), string(good) + " "} {
		_, err := invocation.Decode([]byte(bad))
		require.ErrorIs(t, err, invocation.ErrCorrupt, "%s", bad)
	}
}

func TestS14_TerminalIsFinal(t *testing.T) {
	p := evidence.Projection{AgentResult: json.RawMessage(`{}`), Status: evidence.Found}
	ready, err := begun(`{}`).Ready(json.RawMessage(`1`), p, limits.Default())
	require.NoError(t, err)
	_, err = ready.Ready(json.RawMessage(`1`), p, limits.Default())
	require.Equal(t, fault.Internal, fault.CodeOf(err))

	late := ready.Interrupted(fault.RunDeadlineExceeded)
	require.Equal(t, invocation.Error, late.Status)
	require.Equal(t, evidence.Error, late.EvidenceStatus)
	require.JSONEq(t, `1`, string(late.RawResponse), "raw is kept")
	require.Nil(t, late.AgentResult)
	require.False(t, late.Referencable())
	require.NotEqual(t, ready.Digest, late.Digest)
}

func TestS13_ReadyNeedsEvidence(t *testing.T) {
	for _, p := range []evidence.Projection{
		{AgentResult: json.RawMessage(`{}`), Status: evidence.Error}, {AgentResult: json.RawMessage(`{}`)},
		{AgentResult: json.RawMessage(`{}`), Status: "EVIDENCE"}, {Status: evidence.Found}, {AgentResult: json.RawMessage(`{`), Status: evidence.Found},
	} {
		_, err := begun(`{}`).Ready(json.RawMessage(`1`), p, limits.Default())
		require.Equal(t, fault.ProjectionFailed, fault.CodeOf(err), "%v", p)
	}
}

func TestS22_ExactlyAtTheLimitPasses(t *testing.T) {
	raw, agent := json.RawMessage(`"ééé"`), json.RawMessage(`{"a":"é"}`)
	p := evidence.Projection{AgentResult: agent, Status: evidence.Found}
	free := limits.Limits{Request: 1 << 20, Raw: 1 << 20, Record: 1 << 20, AgentResult: 1 << 20}
	whole, err := begun(`{}`).Ready(raw, p, free)
	require.NoError(t, err)
	for name, at := range map[string]func(l *limits.Limits, less int){
		"raw":    func(l *limits.Limits, less int) { l.Raw = limits.RawBytes(len(raw) - less) },
		"agent":  func(l *limits.Limits, less int) { l.AgentResult = limits.AgentBytes(len(agent) - less) },
		"record": func(l *limits.Limits, less int) { l.Record = limits.RecordBytes(whole.EncodedLen() - less) },
	} {
		l := free
		at(&l, 0)
		_, err := begun(`{}`).Ready(raw, p, l)
		require.NoError(t, err, name)
		at(&l, 1)
		_, err = begun(`{}`).Ready(raw, p, l)
		require.Equal(t, fault.ResultTooLarge, fault.CodeOf(err), name)
	}
	l := free
	l.Record = limits.RecordBytes(whole.EncodedLen() - 1)
	_, err = begun(`{}`).Ready(raw, p, l)
	dropped := begun(`{}`).Failed(err, raw, l)
	require.Nil(t, dropped.RawResponse, "overflow of the record alone drops raw, also where it would fit")
	require.Equal(t, fault.ResultTooLarge, dropped.ErrorCode)
	l = free
	l.Record = limits.RecordBytes(begun(`{}`).EncodedLen() + 60)
	failed := begun(`{}`).Failed(fault.New(fault.ResultTooLarge), json.RawMessage(`"`+strings.Repeat("x", 4096)+`"`), l)
	require.Nil(t, failed.RawResponse, "raw is dropped whole, the request is kept")
	require.JSONEq(t, `{}`, string(failed.Request))
}
