package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/domain/fault"
)

// overviewText is the overview of a run, with a verb for its state.
const overviewText = `{
 "run": {
  "run_id": "r1", "state": "%s",
  "created_at": "2026-11-30T12:00:00.000Z", "deadline": "2999-11-30T13:00:00.000Z",
  "tools": ["mysql_query"], "data_sources": ["shop"],
  "budget": {
   "max_calls": 50, "max_calls_per_tool": {"mysql_query": 20}, "max_bytes": 33554432, "max_refusals": 25
  },
  "usage": {"calls": 2, "calls_per_tool": {"mysql_query": 2}, "bytes": 1536, "refusals": 1}
 },
 "invocations": [{
  "tool_call_id": "call_1", "tool_name": "mysql_query", "status": "READY", "evidence_status": "EVIDENCE_FOUND",
  "started_at": "2026-11-30T12:00:01.000Z", "completed_at": "2026-11-30T12:00:01.250Z",
  "sizes": {"request": 80, "raw_response": 1400, "agent_result": 56}
 }, {
  "tool_call_id": "call_2", "tool_name": "mysql_query", "status": "ERROR", "evidence_status": "ERROR",
  "error_code": "EXECUTION_FAILED", "error_reason": "NOT_GROUPED",
  "started_at": "2026-11-30T12:00:02.000Z", "completed_at": "2026-11-30T12:00:02.010Z",
  "sizes": {"request": 80, "raw_response": 0, "agent_result": 0}
 }],
 "refusals": [{
  "at": "2026-11-30T12:00:03.000Z", "tool_call_id": "call_3", "tool_name": "mysql_query",
  "code": "QUERY_REJECTED", "reason": "UNKNOWN_COLUMN", "detail": "customers.ssn is not available"
 }]
}`

// What an operator needs at 3 am: budgets, refusals with reasons, status, time and sizes of each call.
func TestRunsShow(t *testing.T) {
	var asked Service
	do := Functions{RunOverview: func(_ context.Context, at Service, id string) (json.RawMessage, error) {
		asked = at
		return json.RawMessage(fmt.Sprintf(overviewText, "ACTIVE")), nil
	}}
	code, out, _ := invoke(t, do, "", "runs", "show", "r1", "--key-file", "k", "--server", "https://x")
	require.Zero(t, code, out)
	require.Equal(t, Service{URL: "https://x", KeyEnv: "TOOLBOUNDARY_HARNESS_KEY", KeyFile: "k"}, asked)
	for _, want := range []string{
		"calls         2/50 (mysql_query 2/20)", "bytes         1.5KiB/32.0MiB", "refusals      1/25",
		"call_1  mysql_query  READY   EVIDENCE_FOUND  250ms  80B      1.4KiB  56B",
		"call_2  mysql_query  ERROR   ERROR           10ms   80B      0B      0B      EXECUTION_FAILED NOT_GROUPED",
		"12:00:03  call_3  mysql_query  QUERY_REJECTED UNKNOWN_COLUMN  customers.ssn is not available",
	} {
		require.Contains(t, out, want)
	}
	_, out, _ = invoke(t, do, "", "runs", "show", "r1", "-o", "json")
	require.JSONEq(t, fmt.Sprintf(overviewText, "ACTIVE"), out)
}

// --watch shows one frame after the other until the run is over.
func TestRunsShowWatches(t *testing.T) {
	asked := 0
	do := Functions{RunOverview: func(context.Context, Service, string) (json.RawMessage, error) {
		asked++
		state := "ACTIVE"
		if asked == 3 {
			state = "COMPLETED"
		}
		return json.RawMessage(fmt.Sprintf(overviewText, state)), nil
	}}
	code, out, _ := invoke(t, do, "", "runs", "show", "r1", "--watch", "--interval", "100ms")
	require.Zero(t, code, out)
	require.Equal(t, 3, asked)
	require.Equal(t, 2, strings.Count(out, "---\n"))
	require.Equal(t, 1, strings.Count(out, "COMPLETED"))
}

func TestRunsListAndCancel(t *testing.T) {
	overview := func(_ context.Context, _ Service, id string) (json.RawMessage, error) {
		if id == "gone" {
			return nil, fault.New(fault.RunNotFound)
		}
		return json.RawMessage(strings.Replace(fmt.Sprintf(overviewText, "CANCELLED"), "r1", id, 1)), nil
	}
	do := Functions{RunOverview: overview, RunCancel: overview}
	code, out, _ := invoke(t, do, "", "runs", "list", "r1", "gone", "r2")
	require.Equal(t, Failed, code)
	require.Contains(t, out, "r1    CANCELLED      2999-11-30T13:00:00Z (in ")
	require.Contains(t, out, "gone  RUN_NOT_FOUND\n")
	code, out, _ = invoke(t, do, `{"run_id":"r7"}`, "runs", "list", "-", "-o", "json")
	require.Zero(t, code, out)
	require.Contains(t, out, `{"runs":[{"run_id":"r7","state":"CANCELLED"`)
	code, out, _ = invoke(t, do, "", "runs", "cancel", "r1")
	require.Zero(t, code, out)
	require.Contains(t, out, "state         CANCELLED")
	code, _, stderr := invoke(t, do, "", "runs", "cancel", "gone")
	require.Equal(t, Failed, code)
	require.Contains(t, stderr, "RUN_NOT_FOUND")
}

func TestRecordShowsThreePanes(t *testing.T) {
	body := `{"status":"READY","owner":"x","started_at":"2026-11-30T12:00:01.000Z","completed_at":null,
"run_id":"r1","tool_call_id":"call_1","tool_name":"mysql_query","evidence_status":"EVIDENCE_FOUND",
"sizes":{"request":20,"raw_response":30,"agent_result":40},
"request":{"sql":"SELECT 1"},"raw_response":{"rows":[["\u202eevil"]]},"agent_result":null}`
	do := Functions{Record: func(context.Context, Service, string, string) (json.RawMessage, error) {
		return json.RawMessage(body), nil
	}}
	code, out, _ := invoke(t, do, "", "record", "show", "r1", "call_1", "--width", "90")
	require.Zero(t, code, out)
	require.Contains(t, out, "request, 20B                 │ raw, 30B                     │ agent result, 40B\n")
	require.Contains(t, out, ` "sql": "SELECT 1"           │  "rows": [                   │`)
	require.Contains(t, out, "(none)")
	require.Contains(t, out, `"\u202eevil"`)
	for line := range strings.Lines(out) {
		require.LessOrEqual(t, len([]rune(line)), 91)
	}
	_, out, _ = invoke(t, do, "", "record", "show", "r1", "call_1", "-o", "json")
	require.Equal(t, body+"\n", out, "byte for byte")
}

func TestSpanAndSize(t *testing.T) {
	for d, want := range map[time.Duration]string{
		1500 * time.Microsecond: "2ms", 61 * time.Second: "1m1s", 70 * time.Second: "1m10s",
		2 * time.Minute: "2m", 90 * time.Minute: "1h30m", 2 * time.Hour: "2h0m",
	} {
		require.Equal(t, want, span(d), "%v", d)
	}
	require.Equal(t, "1023B", size(1023))
	require.Equal(t, "1.0KiB", size(1024))
	require.Equal(t, "3.0TiB", size(3<<40))
}
