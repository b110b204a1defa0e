package service

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/stretchr/testify/require"
)

// Answer is an HTTP answer.
type Answer struct {
	Status int
	Body   []byte
}

// Call is one answer's parts that tests look at.
type Call struct {
	Status         string          `json:"status"`
	EvidenceStatus string          `json:"evidence_status"`
	AgentResult    json.RawMessage `json:"agent_result"`
	Error          struct {
		Code, Message, Reason, Detail string
	} `json:"error"`
	HTTP int `json:"-"`
}

// String returns the parts for a test's message.
func (c Call) String() string {
	return fmt.Sprintf("HTTP %d, %s %s %s %+v", c.HTTP, c.Status, c.EvidenceStatus, c.AgentResult, c.Error)
}

// Do sends a request to the API or to /mcp. A context that ends closes the connection, as a
// client that goes away does.
func (s *Service) Do(ctx context.Context, bearer, method, path, body string) (Answer, error) {
	req, err := http.NewRequestWithContext(ctx, method, s.URL+path, strings.NewReader(body))
	if err != nil {
		return Answer{}, err
	}
	req.Header.Set("Accept", "application/json, text/event-stream")
	if bearer != "" {
		req.Header.Set("Authorization", "Bearer "+bearer)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return Answer{}, err
	}
	defer res.Body.Close()
	all, err := io.ReadAll(res.Body)
	return Answer{res.StatusCode, all}, err
}

// Must sends a harness's request and requires an answer with that status.
func (s *Service) Must(status int, method, path, body string) []byte {
	s.t.Helper()
	a, err := s.Do(s.t.Context(), HarnessKey, method, path, body)
	require.NoError(s.t, err)
	require.Equal(s.t, status, a.Status, "%s %s: %s", method, path, a.Body)
	return a.Body
}

// Open opens a run with these further members and returns its agent token. Without members the
// run may use both tools of MySQL on the data source shop.
func (s *Service) Open(run, members string) string {
	s.t.Helper()
	if members == "" {
		members = `"tools":["mysql_query","mysql_schema"],"data_sources":["shop"]`
	}
	var opened struct {
		AgentToken string `json:"agent_token"`
	}
	body := s.Must(http.StatusCreated, "POST", "/v1/runs", fmt.Sprintf(`{"run_id":%q,%s}`, run, members))
	require.NoError(s.t, json.Unmarshal(body, &opened), "%s", body)
	require.NotEmpty(s.t, opened.AgentToken, "%s", body)
	return opened.AgentToken
}

// Invoke calls a tool as the run's agent.
func (s *Service) Invoke(ctx context.Context, token, run, id, tool, request string) (Call, error) {
	a, err := s.Do(ctx, token, "POST", "/v1/runs/"+run+"/tool-calls",
		fmt.Sprintf(`{"tool_call_id":%q,"tool_name":%q,"request":%s}`, id, tool, request))
	if err != nil {
		return Call{}, err
	}
	c := Call{HTTP: a.Status}
	return c, json.Unmarshal(a.Body, &c)
}

// Send is Invoke for a call that takes long: it returns at once, and wait returns the answer.
func (s *Service) Send(ctx context.Context, token, run, id, tool, request string) (wait func() (Call, error)) {
	type answer struct {
		call Call
		err  error
	}
	answered := make(chan answer, 1)
	go func() {
		c, err := s.Invoke(ctx, token, run, id, tool, request)
		answered <- answer{c, err}
	}()
	return func() (Call, error) {
		a := <-answered
		return a.call, a.err
	}
}

// Query calls mysql_query on the data source shop and requires an answer.
func (s *Service) Query(token, run, id, sql string, params ...any) Call {
	s.t.Helper()
	if params == nil {
		params = []any{}
	}
	request, err := json.Marshal(map[string]any{"data_source": "shop", "sql": sql, "params": params})
	require.NoError(s.t, err)
	c, err := s.Invoke(s.t.Context(), token, run, id, "mysql_query", string(request))
	require.NoError(s.t, err)
	return c
}

// Record returns a canonical record, and whether there is one.
func (s *Service) Record(run, id string) (record map[string]json.RawMessage, found bool) {
	s.t.Helper()
	path := "/v1/runs/" + run + "/tool-calls/" + url.PathEscape(id) + "/record"
	a, err := s.Do(s.t.Context(), HarnessKey, "GET", path, "")
	require.NoError(s.t, err)
	if a.Status == http.StatusNotFound {
		return nil, false
	}
	require.Equal(s.t, http.StatusOK, a.Status, "%s", a.Body)
	require.NoError(s.t, json.Unmarshal(a.Body, &record), "%s", a.Body)
	return record, true
}
