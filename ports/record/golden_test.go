package record_test

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/domain/evidence"
	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/domain/invocation"
	"github.com/toolboundary/toolboundary/domain/limits"
	"github.com/toolboundary/toolboundary/domain/run"
	"github.com/toolboundary/toolboundary/ports/record"
)

var update = flag.Bool("update", false, "rewrite the golden files: they are what other versions wrote, so say why")

const owner = "abcdefghij_KLMNOPQRST-"

var (
	started   = time.Date(2026, 11, 30, 18, 7, 41, 123e6, time.UTC)
	completed = started.Add(1500 * time.Millisecond)
	leased    = started.Add(45 * time.Second)
	free      = limits.Limits{Request: 1 << 30, Raw: 1 << 30, Record: 1 << 30, AgentResult: 1 << 30}
)

// begun returns a PROJECTING record as a store keeps it.
func begun(request string) invocation.Record {
	key := invocation.Key{RunID: "r1", ToolCallID: "call_1"}
	r := invocation.Begin(key, owner, "mysql_query", json.RawMessage(request))
	r.StartedAt, r.LeaseUntil = started, leased
	return r
}

// ready returns the record with an answer, as a store keeps it.
func ready(t require.TestingT, r invocation.Record, raw, agent string, status evidence.Status) invocation.Record {
	p := evidence.Projection{AgentResult: json.RawMessage(agent), Status: status}
	next, err := r.Ready(json.RawMessage(raw), p, free, record.EncodedLen)
	require.NoError(t, err)
	next.CompletedAt = completed
	return next
}

// longest returns a failed record whose members are all as long as they may be, in characters
// that take the most bytes in JSON.
func longest() invocation.Record {
	key := invocation.Key{RunID: run.ID(strings.Repeat("r", 128)), ToolCallID: strings.Repeat("<", 1024)}
	r := invocation.Begin(key, owner, strings.Repeat("t", 64), json.RawMessage(`{}`))
	r.StartedAt, r.LeaseUntil = started, leased
	cause := fault.Because(fault.DataSourceUnavailable, strings.Repeat("\x00", 65), strings.Repeat("\x01", 2000))
	r = r.FailedWithRaw(json.RawMessage(`[1]`), cause, free, record.EncodedLen)
	r.CompletedAt = completed
	return r
}

// encode returns the stored form of a record that has one.
func encode(t require.TestingT, r invocation.Record) []byte {
	value, err := record.Encode(r)
	require.NoError(t, err)
	return value
}

// golden returns the records of the golden files.
func golden(t require.TestingT) map[string]invocation.Record {
	const request = ` {"statement":"SELECT 1","params":["é",1.10,"<"]}`
	fresh := begun(request)
	fresh.StartedAt, fresh.LeaseUntil = time.Time{}, time.Time{}
	cause := fault.Because(fault.QueryRejected, "UNKNOWN_COLUMN", "no column \"é\"\tin \\shop & co")
	failed := begun(request).FailedWithRaw(json.RawMessage(`[ ]`), cause, free, record.EncodedLen)
	bare := begun(`{}`).Failed(fault.New(fault.ExecutionTimeout))
	lost := begun(`{}`).Lost()
	failed.CompletedAt, bare.CompletedAt, lost.CompletedAt = completed, completed, completed
	return map[string]invocation.Record{
		"fresh":   fresh,
		"begun":   begun(request),
		"found":   ready(t, begun(request), ` {"rows":[["1"]]}`, `{"returned":1, "note":"é"}`, evidence.Found),
		"none":    ready(t, begun(`{}`), `{"rows":[]}`, `{"returned":0}`, evidence.None),
		"failed":  failed,
		"bare":    bare,
		"lost":    lost,
		"longest": longest(),
	}
}

// TestGoldenFiles pins the stored form byte for byte: other versions wrote it, and read it.
func TestGoldenFiles(t *testing.T) {
	for name, r := range golden(t) {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join("testdata", name+".json")
			if *update {
				require.NoError(t, os.WriteFile(file, encode(t, r), 0o644))
			}
			want, err := os.ReadFile(file)
			require.NoError(t, err)
			require.Equal(t, string(want), string(encode(t, r)))
			back, err := record.Decode(want)
			require.NoError(t, err)
			require.Equal(t, r, back)
		})
	}
}
