package promquery

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/domain/limits"
)

func (s statement) run(ctx context.Context, limit limits.RawBytes) (json.RawMessage, error) {
	release, err := s.source.slots.Take(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	response, err := s.send(ctx)
	if err != nil {
		return nil, unreachable(err)
	}
	defer response.Body.Close()
	// What is read of the body is bounded too: it holds little that is not kept.
	body := &bounded{r: response.Body, left: int64(limit) + 256<<10}
	if response.StatusCode != http.StatusOK {
		return nil, refusal(response.StatusCode, body)
	}
	return s.receive(body, limit)
}

// send posts the query. The server gets the time limit too, and ends the query when the
// connection closes.
func (s statement) send(ctx context.Context) (*http.Response, error) {
	path, form := "/api/v1/query", url.Values{
		"query": {s.text.Text}, "timeout": {write(s.source.Timeout)},
		"nocache": {"1"}, // VictoriaMetrics would move start and end to fit its cache
	}
	if s.window.instant() {
		form.Set("time", seconds(s.window.end))
	} else {
		path += "_range"
		form.Set("start", seconds(s.window.start))
		form.Set("end", seconds(s.window.end))
		form.Set("step", strconv.FormatFloat(s.window.step.Seconds(), 'f', -1, 64))
	}
	if s.source.Policy.Version3 {
		form.Set("limit", strconv.Itoa(s.source.MaxSeries+1))
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, s.source.base+path,
		strings.NewReader(form.Encode()))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	request.Header.Set("Accept", "application/json")
	switch {
	case s.source.BearerToken != "":
		request.Header.Set("Authorization", "Bearer "+s.source.BearerToken)
	case s.source.Username != "":
		request.SetBasicAuth(s.source.Username, s.source.Password)
	}
	return s.source.client.Do(request)
}

func seconds(t time.Time) string {
	return strconv.FormatFloat(float64(t.UnixMilli())/1000, 'f', 3, 64)
}

// bounded fails with RESULT_TOO_LARGE at the first byte past its limit.
type bounded struct {
	r    io.Reader
	left int64
	// failed is why the connection ended before the body did.
	failed error
}

func (b *bounded) Read(p []byte) (int, error) {
	if int64(len(p)) > b.left+1 {
		p = p[:b.left+1]
	}
	n, err := b.r.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return 0, fault.New(fault.ResultTooLarge)
	}
	if err != nil && err != io.EOF {
		b.failed = err
	}
	return n, err
}

// unreachable is a fault whose cause says what happened without saying where: the errors of
// net/http carry addresses and URLs.
func unreachable(err error) error {
	var number syscall.Errno
	var dns *net.DNSError
	var tlsErr *tls.CertificateVerificationError
	reason, cause := "NOT_REACHABLE", errors.New("the connection failed")
	switch {
	case errors.As(err, &number):
		cause = number
	case errors.As(err, &dns):
		cause = errors.New("the host's name cannot be resolved")
	case errors.As(err, &tlsErr):
		reason, cause = "TLS", errors.New("the server's certificate is not trusted")
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		reason, cause = "CONNECTION_LOST", io.ErrUnexpectedEOF
	}
	return fault.Because(fault.DataSourceUnavailable, reason, "").WithCause(cause)
}

// maxComplaint is how much of an error's body is read.
const maxComplaint = 16 << 10

// refused maps an answer that is not 200 to a fault. The body's own words are only compared.
func refusal(status int, body io.Reader) error {
	text, err := io.ReadAll(io.LimitReader(body, maxComplaint))
	if err != nil {
		return unreachable(err)
	}
	var complaint struct {
		Type  string `json:"errorType"`
		Error string `json:"error"`
	}
	_ = json.Unmarshal(text, &complaint) // proxies answer without JSON: then the status alone speaks
	switch {
	case complaint.Type == "timeout":
		return fault.New(fault.ExecutionTimeout)
	case complaint.Type == "execution" || complaint.Type == "bad_data" || status == http.StatusUnprocessableEntity ||
		status == http.StatusBadRequest:
		return fault.Because(fault.ExecutionFailed, failure(complaint.Error), "")
	case status == http.StatusTooManyRequests:
		return fault.Because(fault.DataSourceBusy, "SERVER_FULL", "")
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return fault.Because(fault.DataSourceUnavailable, "LOGIN", "")
	case status >= 500:
		return fault.Because(fault.DataSourceUnavailable, "NOT_REACHABLE", "")
	default:
		return fault.Because(fault.ExecutionFailed, "RESULT_UNREADABLE", "")
	}
}

// failure names the evaluation errors that an agent can fix.
func failure(text string) string {
	for _, f := range [...]struct{ part, reason string }{
		{"many-to-many matching", "MANY_TO_MANY"},
		{"multiple matches for labels", "MANY_TO_ONE"},
		{"duplicate series", "DUPLICATE_SERIES"},
		{"same labelset", "DUPLICATE_SERIES"},
		{"too many samples", "TOO_MANY_SAMPLES"},
		{"exceeded maximum resolution", "TOO_MANY_SAMPLES"},
		{"-search.max", "TOO_MANY_SAMPLES"},
	} {
		if strings.Contains(text, f.part) {
			return f.reason
		}
	}
	return "EVALUATION"
}
