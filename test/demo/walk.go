package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
)

// step is one tool call of the walk and what must come of it.
type step struct {
	title, id, sql string
	params         []any
	status         int
	want           string // what the answer must contain
}

var steps = []step{
	{"A question with an answer", "call_1",
		"SELECT c.name, c.email, o.total, o.placed_at FROM customers c JOIN orders o ON o.customer_id = c.id " +
			"WHERE c.country = ? ORDER BY o.total DESC LIMIT 3",
		[]any{"DE"}, 200, "EVIDENCE_FOUND"},
	{"A question that finds nothing: that is evidence too, a negative one", "call_2",
		"SELECT id, status, total FROM orders WHERE status = ? AND total > 1000000", []any{"refunded"}, 200,
		"NO_EVIDENCE"},
	{"A column that is not on the allowlist: refused before any connection is taken, " +
		"with a reason that helps to fix it", "call_3",
		"SELECT name, password_hash FROM customers", nil, 422, "QUERY_REJECTED"},
	{"The same tool_call_id again: the tool is not run, the first record is untouched", "call_1",
		"SELECT name FROM customers", nil, 409, "DUPLICATE_TOOL_CALL"},
	{"One call more than the run's budget of two", "call_4",
		"SELECT sku, title, price FROM products ORDER BY price DESC LIMIT 3", nil, 429, "RUN_BUDGET_EXHAUSTED"},
}

// walk opens a run, makes the calls as an agent, and reads the record as the harness.
func (s *stack) walk(ctx context.Context) error {
	fmt.Fprintln(s.out, "toolboundary, on an embedded database and the memory store.")
	open := map[string]any{
		"run_id": "demo-1", "ttl_seconds": 300,
		"tools": []string{"mysql_query"}, "data_sources": []string{"shop"},
		"budget": map[string]any{"max_calls": 2},
	}
	s.heading("The harness opens a run with a budget of two calls")
	status, body, err := s.call(ctx, s.key, "POST", "/v1/runs", open)
	if err != nil {
		return err
	}
	var opened struct {
		Run        json.RawMessage `json:"run"`
		AgentToken string          `json:"agent_token"`
	}
	if json.Unmarshal(body, &opened) != nil || status != 201 {
		return fmt.Errorf("opening the run answered %d %s", status, body)
	}
	fmt.Fprintf(s.out, "%d %s\n", status, opened.Run)
	for _, st := range steps {
		if err := s.take(ctx, opened.AgentToken, st); err != nil {
			return err
		}
	}
	return s.judge(ctx)
}

func (s *stack) take(ctx context.Context, token string, st step) error {
	s.heading(st.title)
	request := map[string]any{"data_source": "shop", "sql": st.sql}
	if st.params != nil {
		request["params"] = st.params
	}
	fmt.Fprintf(s.out, "agent asks   %s: %s", st.id, st.sql)
	if st.params != nil {
		fmt.Fprintf(s.out, "  %v", st.params)
	}
	fmt.Fprintln(s.out)
	status, body, err := s.call(ctx, token, "POST", "/v1/runs/demo-1/tool-calls",
		map[string]any{"tool_call_id": st.id, "tool_name": "mysql_query", "request": request})
	if err != nil {
		return err
	}
	fmt.Fprintf(s.out, "agent sees   %d %s\n", status, bytes.TrimSpace(body))
	if status != st.status || !strings.Contains(string(body), st.want) {
		return fmt.Errorf("%s should have answered %d %s", st.id, st.status, st.want)
	}
	if st.id != "call_1" || st.status != 200 {
		return nil
	}
	return s.showRecord(ctx)
}

// showRecord prints what the harness reads in the record of call_1.
func (s *stack) showRecord(ctx context.Context) error {
	status, body, err := s.call(ctx, s.key, "GET", "/v1/runs/demo-1/tool-calls/call_1/record", nil)
	if err != nil {
		return err
	}
	var record struct {
		Status      string          `json:"status"`
		Request     json.RawMessage `json:"request"`
		RawResponse json.RawMessage `json:"raw_response"`
	}
	if err := json.Unmarshal(body, &record); err != nil || status != 200 {
		return fmt.Errorf("reading the record answered %d", status)
	}
	fmt.Fprintf(s.out, "record holds %s, request %s\n             raw %s\n",
		record.Status, record.Request, record.RawResponse)
	return nil
}

// judge asks what the calls are worth as evidence, and completes the run.
func (s *stack) judge(ctx context.Context) error {
	s.heading("Whoever judges the agent's conclusions checks what it cites")
	refs := map[string]any{"references": []map[string]string{
		{"tool_call_id": "call_1"}, {"tool_call_id": "call_2"},
		{"tool_call_id": "call_3"}, {"tool_call_id": "call_9"},
	}}
	for _, c := range []struct {
		path string
		body any
	}{{"/v1/runs/demo-1/references", refs}, {"/v1/runs/demo-1/complete", nil}} {
		status, body, err := s.call(ctx, s.key, "POST", c.path, c.body)
		if err != nil {
			return err
		}
		if status != 200 {
			return fmt.Errorf("%s answered %d %s", c.path, status, body)
		}
		fmt.Fprintf(s.out, "%d %s\n", status, bytes.TrimSpace(body))
	}
	return nil
}

func (s *stack) heading(text string) { fmt.Fprintf(s.out, "\n── %s\n", text) }

// stayUp prints how to talk to the service and waits for the end.
func (s *stack) stayUp(ctx context.Context) error {
	request := `{"data_source":"shop","sql":"SELECT name, country FROM customers WHERE vip = 1 LIMIT 3"}`
	fmt.Fprintf(s.out, `The service is up at %[1]s, with an embedded database and the memory store.
Its harness key, good until you stop it with Ctrl-C:  %[2]s

Open a run:
  curl -s %[1]s/v1/runs -H 'Authorization: Bearer %[2]s' -H 'Content-Type: application/json' \
    -d '{"run_id":"r1","ttl_seconds":600,"tools":["mysql_query"],"data_sources":["shop"]}'
Ask something in it, as the harness (an agent uses the agent_token of that answer instead of the key):
  curl -s %[1]s/v1/runs/r1/tool-calls -H 'Authorization: Bearer %[2]s' -H 'Content-Type: application/json' \
    -d '{"tool_call_id":"call_1","tool_name":"mysql_query","request":%[3]s}'
See what the run did:
  curl -s %[1]s/v1/runs/r1 -H 'Authorization: Bearer %[2]s'
`, s.url, s.key, request)
	<-ctx.Done()
	return nil
}
