package record_test

import (
	"bytes"
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
	"github.com/toolboundary/toolboundary/ports/record"
)

// bodyless returns what a head says of a record.
func bodyless(r invocation.Record) invocation.Record {
	r.Request, r.RawResponse, r.AgentResult = nil, nil, nil
	return r
}

// drawn returns any record that the domain makes.
func drawn(t *rapid.T) invocation.Record {
	text := rapid.StringMatching(`[ -~é\t\n"]{0,40}`)
	body := rapid.Custom(func(t *rapid.T) json.RawMessage {
		b, err := json.Marshal(map[string]any{"a": text.Draw(t, "text"), "n": rapid.Int64().Draw(t, "n")})
		require.NoError(t, err)
		return append(json.RawMessage(" "), b...) // a leading blank shows that nothing is encoded anew
	})
	r := begun("")
	r.Request = body.Draw(t, "request")
	r.Sizes.Request = len(r.Request)
	r.StartedAt = time.UnixMilli(rapid.Int64Range(0, 4e12).Draw(t, "at")).UTC()
	raw := body.Draw(t, "raw")
	switch rapid.IntRange(0, 2).Draw(t, "status") {
	case 0:
		return r
	case 1:
		return ready(t, r, string(raw), string(body.Draw(t, "agent")), evidence.None)
	default:
		r.LeaseUntil = time.Time{}
		cause := fault.Because(fault.ExecutionFailed, "NOT_GROUPED", text.Draw(t, "detail"))
		return r.FailedWithRaw(raw, cause, limits.Default(), record.EncodedLen)
	}
}

func TestS15_DecodeOfEncodeIsTheSameRecord(t *testing.T) {
	front := bytes.Index(encode(t, begun(`{}`)), []byte(`"schema"`))
	rapid.Check(t, func(t *rapid.T) {
		r := drawn(t)
		value := encode(t, r)
		require.True(t, json.Valid(value), "%s", value)
		require.Len(t, value, record.EncodedLen(r))
		require.Equal(t, front, bytes.Index(value, []byte(`"schema"`)), "the front has a fixed width")
		back, err := record.Decode(value)
		require.NoError(t, err)
		require.Equal(t, r, back)
		head, err := record.DecodeHead(value[:min(len(value), record.MaxHead())])
		require.NoError(t, err)
		require.Equal(t, bodyless(r), head)
		answer, err := record.DecodeAnswer(head, value[len(value)-record.AnswerLen(head):])
		require.NoError(t, err)
		require.Equal(t, r.AgentResult, answer.AgentResult)
	})
}

func TestS23_CorruptIsNeverARecord(t *testing.T) {
	good := string(encode(t, begun(`{"a":1}`)))
	for cut := range good {
		_, err := record.Decode([]byte(good[:cut]))
		require.ErrorIs(t, err, record.ErrCorrupt, "cut at %d", cut)
	}
	for name, bad := range map[string]string{
		"empty": "", "null": "null", "object": "{}", "more": good + " ",
		"another status": strings.Replace(good, `"PROJECTING"`, `"READY"`, 1),
		"no status":      strings.Replace(good, `"PROJECTING"`, `""`, 1),
		"no run":         strings.Replace(good, `"r1"`, `""`, 1),
		"no call":        strings.Replace(good, `"call_1"`, `""`, 1),
		"a short owner":  strings.Replace(good, owner, owner[1:], 1),
		"a wrong size":   strings.Replace(good, `"sizes":{"request":7`, `"sizes":{"request":6`, 1),
		"a size below 0": strings.Replace(good, `"sizes":{"request":7`, `"sizes":{"request":-7`, 1),
	} {
		t.Run(name, func(t *testing.T) {
			require.NotEqual(t, good, bad)
			_, err := record.Decode([]byte(bad))
			require.ErrorIs(t, err, record.ErrCorrupt)
		})
	}
}

func TestAnAnswerIsReadFromTheEnd(t *testing.T) {
	r := ready(t, begun(`{}`), `[1]`, `{"returned":1}`, evidence.Found)
	value := encode(t, r)
	head, err := record.DecodeHead(value)
	require.NoError(t, err)
	end := value[len(value)-record.AnswerLen(head):]
	require.Equal(t, `,"agent_result":{"returned":1}}`, string(end))
	for name, bad := range map[string][]byte{
		"one byte less": end[1:], "one byte more": value[len(value)-len(end)-1:], "cut": end[:len(end)-1], "none": nil,
	} {
		t.Run(name, func(t *testing.T) {
			_, err := record.DecodeAnswer(head, bad)
			require.ErrorIs(t, err, record.ErrCorrupt)
		})
	}
}

// TestNoHeadIsLongerThanItsBounds puts each member at its bound, and one byte past it.
func TestNoHeadIsLongerThanItsBounds(t *testing.T) {
	most := longest()
	require.NoError(t, most.RunID.Check())
	require.NoError(t, invocation.CheckToolCallID(most.ToolCallID))
	value := encode(t, most)
	length := bytes.Index(value, []byte(`,"request":{}`)) + len(`,"request":`)
	require.LessOrEqual(t, length, record.MaxHead())
	require.Greater(t, length, record.MaxHead()-100, "the bounds are those of the longest record, but for its numbers")

	for name, longer := range map[string]func(r *invocation.Record){
		"owner":        func(r *invocation.Record) { r.Owner += "x" },
		"digest":       func(r *invocation.Record) { r.Digest += "x" },
		"started_at":   func(r *invocation.Record) { r.StartedAt = time.Date(12345, 1, 1, 0, 0, 0, 0, time.UTC) },
		"completed_at": func(r *invocation.Record) { r.CompletedAt = time.Date(12345, 1, 1, 0, 0, 0, 0, time.UTC) },
		"lease_until":  func(r *invocation.Record) { r.LeaseUntil = time.Date(12345, 1, 1, 0, 0, 0, 0, time.UTC) },
		"run_id":       func(r *invocation.Record) { r.RunID += "x" },
		"tool_call_id": func(r *invocation.Record) { r.ToolCallID += "x" },
		"tool_name":    func(r *invocation.Record) { r.ToolName += "x" },
		"error_code":   func(r *invocation.Record) { r.ErrorCode += "x" },
		"error_reason": func(r *invocation.Record) { r.ErrorReason += "x" },
		"error_detail": func(r *invocation.Record) { r.ErrorDetail += "x" },
	} {
		t.Run(name, func(t *testing.T) {
			r := longest()
			longer(&r)
			_, err := record.Encode(r)
			require.Error(t, err)
			if name != "owner" { // whose length is no bound but fixed
				require.ErrorContains(t, err, name)
			}
		})
	}
}

func TestWhatCannotBeReadBackIsNotEncoded(t *testing.T) {
	for name, change := range map[string]func(r *invocation.Record){
		"sizes of other bodies":    func(r *invocation.Record) { r.Sizes.Request++ },
		"a head without bodies":    func(r *invocation.Record) { *r = bodyless(*r) },
		"no run":                   func(r *invocation.Record) { r.RunID = "" },
		"no tool call":             func(r *invocation.Record) { r.ToolCallID = "" },
		"no status":                func(r *invocation.Record) { r.Status = "" },
		"evidence while open":      func(r *invocation.Record) { r.EvidenceStatus = evidence.Found },
		"an error while open":      func(r *invocation.Record) { r.ErrorCode = fault.Internal },
		"an error without a code":  func(r *invocation.Record) { r.Status = invocation.Error },
		"an answer without worth":  func(r *invocation.Record) { r.Status = invocation.Ready },
		"an answer with an error":  func(r *invocation.Record) { *r = answeredWithError(t) },
		"an error with its answer": func(r *invocation.Record) { *r = r.Lost(); r.EvidenceStatus = evidence.Found },
	} {
		t.Run(name, func(t *testing.T) {
			r := begun(`{}`)
			change(&r)
			_, err := record.Encode(r)
			require.Error(t, err)
		})
	}
}

func answeredWithError(t *testing.T) invocation.Record {
	r := ready(t, begun(`{}`), `[1]`, `{}`, evidence.Found)
	r.ErrorCode = fault.Internal
	return r
}

// TestHeadMembersOfALaterVersionAreIgnored puts members where a later version may put them.
func TestHeadMembersOfALaterVersionAreIgnored(t *testing.T) {
	quoted, err := json.Marshal(strings.Repeat(`}],"request":"<`, 100))
	require.NoError(t, err)
	for name, later := range map[string]string{
		"1 KiB":              `"later":"` + strings.Repeat("x", 1<<10) + `"`,
		"more than any head": `"later":"` + strings.Repeat("x", 64<<10) + `"`,
		"quotes of the mark": `"later":` + string(quoted), "numbers": `"a":1,"b":-1.5e9`,
		"constants": `"a":null,"b":true`,
		"lists":     `"a":[],"b":["}",",","request"]`,
	} {
		for file, r := range golden(t) {
			t.Run(name+"/"+file, func(t *testing.T) {
				value := strings.Replace(string(encode(t, r)), `,"sizes":`, `,`+later+`,"sizes":`, 1)
				require.True(t, json.Valid([]byte(value)))
				back, err := record.Decode([]byte(value))
				require.NoError(t, err)
				require.Equal(t, r, back)
				head, err := record.DecodeHead([]byte(value))
				require.NoError(t, err)
				require.Equal(t, bodyless(r), head)
			})
		}
	}
}

func TestSchemas(t *testing.T) {
	good := string(encode(t, begun(`{}`)))
	for _, schema := range []string{"0", "-1", "2", "9", "1.5", `"1"`, "null"} {
		t.Run(schema, func(t *testing.T) {
			_, err := record.Decode([]byte(strings.Replace(good, `"schema":1`, `"schema":`+schema, 1)))
			require.ErrorIs(t, err, record.ErrCorrupt)
		})
	}
	_, err := record.Decode([]byte(strings.Replace(good, `"schema":1,`, ``, 1)))
	require.ErrorIs(t, err, record.ErrCorrupt)
	for latest := 1; latest < 4; latest++ {
		for schema := range 6 {
			want := schema >= 1 && schema <= latest
			require.Equal(t, want, record.Readable(schema, latest), "schema %d, latest %d", schema, latest)
		}
	}
}
