package redisstore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/domain/evidence"
	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/domain/invocation"
	"github.com/toolboundary/toolboundary/domain/limits"
	"github.com/toolboundary/toolboundary/domain/run"
	"github.com/toolboundary/toolboundary/ports"
	"github.com/toolboundary/toolboundary/ports/record"
)

// reply is an error reply of a server.
type reply string

func (r reply) Error() string { return string(r) }
func (reply) RedisError()     {}

func TestErrorsAreClassified(t *testing.T) {
	for _, c := range []struct {
		err  error
		want outcome
	}{
		{&net.OpError{Op: "dial", Err: io.EOF}, retriable},
		{fmt.Errorf("wrapped: %w", &net.OpError{Op: "dial", Err: context.DeadlineExceeded}), retriable},
		{redis.ErrPoolTimeout, retriable},
		{redis.ErrClosed, refused},
		{&net.OpError{Op: "read", Err: io.EOF}, unknown},
		{&net.OpError{Op: "write", Err: io.EOF}, unknown},
		{io.EOF, unknown},
		{context.DeadlineExceeded, unknown},
		{context.Canceled, unknown},
		{errors.New("anything else"), unknown},
		{errReply, unknown},
		{reply("LOADING Redis is loading the dataset in memory"), retriable},
		{reply("READONLY You can't write against a read only replica."), retriable},
		{reply("TRYAGAIN Multiple keys request during rehashing of slot"), retriable},
		{reply("MOVED 1 a:1"), retriable},
		{reply("NOREPLICAS Not enough good replicas to write."), retriable},
		{reply("BUSY Redis is busy running a script."), retriable},
		{reply("MISCONF Redis is configured to save RDB snapshots"), retriable},
		{reply("ERR max number of clients reached"), retriable},
		{reply("OOM command not allowed when used memory > 'maxmemory'."), refused},
		{reply("NOPERM this user has no permissions"), refused},
		{reply("NOAUTH Authentication required."), refused},
		{reply("ERR unknown command 'evalsha'"), refused},
		{reply("ERR Protocol error: unauthenticated multibulk length"), refused},
		{reply("WRONGTYPE Operation against a key script: 12, on @user_script:1."), broken},
		{reply("ERR user_script:12: attempt to compare nil with number script: 12"), broken},
		{reply("SURPRISE of a later version"), unknown},
	} {
		require.Equal(t, c.want, classify(c.err), "%v", c.err)
		f := fault.Of(failure(c.err, false))
		require.Contains(t, []fault.Code{fault.StoreUnavailable, fault.Internal}, f.Code)
		require.Equal(t, fault.New(f.Code).Error(), f.Error(), "no text of the server's")
	}
}

func TestS23_PartsThatDoNotSayAreReadAgain(t *testing.T) {
	key := invocation.Key{RunID: "r1", ToolCallID: "call_1"}
	part := func(text string) *redis.StringCmd { return redis.NewStringResult(text, nil) }
	answered := invocation.Begin(key, strings.Repeat("o", invocation.OwnerLength), "t", []byte(`{}`))
	p := evidence.Projection{AgentResult: []byte(`{"a":1}`), Status: evidence.Found}
	answered, err := answered.Ready([]byte(`[]`), p, limits.Default(), record.EncodedLen)
	require.NoError(t, err)
	value, err := record.Encode(answered)
	require.NoError(t, err)
	text := string(value)
	garbage := func(n int) *redis.StringCmd { return part(strings.Repeat("x", n)) }
	corrupt := record.ErrCorrupt
	another := part(strings.ReplaceAll(text, "call_1", "call_2"))
	for name, c := range map[string]struct {
		view   ports.View
		parts  parts
		enough bool
		err    error
	}{
		"a record that began between two commands": {ports.Head, parts{value: part("")}, false, nil},
		"a head as long as what is read":           {ports.Head, parts{value: garbage(headRead)}, false, nil},
		"a short value and no record":              {ports.Head, parts{value: garbage(headRead - 1)}, true, corrupt},
		"another call's record":                    {ports.Head, parts{value: another}, true, corrupt},
		"an answer longer than what is read":       {ports.Answer, parts{value: part(text), end: part(`1}}`)}, false, nil},
		"an answer":                                {ports.Answer, parts{value: part(text), end: part(text[20:])}, true, nil},
		"garbage at the end":                       {ports.Answer, parts{value: part(text), end: garbage(100)}, true, corrupt},
		"an empty value":                           {ports.Whole, parts{value: part("")}, true, corrupt},
	} {
		t.Run(name, func(t *testing.T) {
			rec, enough, err := c.parts.decode(key, c.view)
			require.Equal(t, c.enough, enough)
			if !enough {
				return
			}
			require.ErrorIs(t, err, c.err)
			if c.err != nil {
				require.Empty(t, rec)
			} else {
				require.Equal(t, answered.AgentResult, rec.AgentResult)
			}
		})
	}
}

func TestKeysNeverMeetAndShareTheirRunsSlot(t *testing.T) {
	k := keys{"tb:"}
	seen := map[string]string{}
	ids := []run.ID{"a", "a:i:b", "a}", "{a", "a%7D", "%", "", "a:", "é", "a}i:b"}
	for _, id := range ids {
		require.Equal(t, "tb:{", k.run(id)[:4])
		names := map[string]string{"run": k.run(id), "staged": k.staged(id, "o", "d")}
		for _, c := range []string{"c", "i:c", "}i:c", "{a}i:c", "", ":", "r", "s:o:d"} {
			names["record "+c] = k.record(id, c)
		}
		for what, key := range names {
			require.Equal(t, tag(k.run(id)), tag(key))
			require.Empty(t, seen[key], "%q of %q", what, id)
			seen[key] = fmt.Sprintf("%q of %q", what, id)
		}
	}
	require.Equal(t, "tb:{r1}i:call_1", k.record("r1", "call_1"))
}

// tag is what a Cluster hashes of a key.
func tag(key string) string {
	for i := range len(key) {
		if key[i] != '{' {
			continue
		}
		for j := i + 1; j < len(key); j++ {
			if key[j] == '}' && j > i+1 {
				return key[i+1 : j]
			}
			if key[j] == '}' {
				return key
			}
		}
	}
	return key
}
