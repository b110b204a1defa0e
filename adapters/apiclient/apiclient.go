// Package apiclient asks a running service over its HTTP API, as a harness does: for the
// operator's commands.
//
// It never follows a redirect, because the key would go along, and no error of it holds the key.
package apiclient

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/toolboundary/toolboundary/domain/fault"
)

const (
	requestTimeout = 30 * time.Second
	maxAnswer      = 1 << 30 // bytes; a record with all its limits at their ceilings
)

// Options say where the service is and who asks.
type Options struct {
	// URL is that of the service, such as https://toolboundary.example.com:8080.
	URL string
	// Key is a harness key.
	Key string
	// RootCAs are trusted instead of the system's authorities; nil means the system's.
	RootCAs *x509.CertPool
}

// ErrURL says that the URL of the options is not that of a service.
var ErrURL = errors.New("it must be a URL such as https://toolboundary.example.com:8080, without a user name")

// Client asks one service. It is safe for concurrent use.
type Client struct {
	base, host, key string
	http            *http.Client
}

// New returns a client of the service, or ErrURL. It connects when it is first used.
func New(opt Options) (*Client, error) {
	base, err := url.Parse(opt.URL)
	if err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https" || base.User != nil {
		return nil, ErrURL
	}
	return &Client{
		base: strings.TrimRight(opt.URL, "/"), host: base.Host, key: opt.Key,
		http: &http.Client{
			Timeout: requestTimeout,
			Transport: &http.Transport{
				Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true,
				TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: opt.RootCAs},
			},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}, nil
}

// Run returns the service's answer about a run. Its error, as that of the other methods, is a
// fault when the service answered with one.
func (c *Client) Run(ctx context.Context, id string) (json.RawMessage, error) {
	return c.do(ctx, http.MethodGet, "runs", id)
}

// Cancel cancels a run and returns the service's answer.
func (c *Client) Cancel(ctx context.Context, id string) (json.RawMessage, error) {
	return c.do(ctx, http.MethodPost, "runs", id, "cancel")
}

// Record returns the canonical record of a call.
func (c *Client) Record(ctx context.Context, runID, toolCallID string) (json.RawMessage, error) {
	return c.do(ctx, http.MethodGet, "runs", runID, "tool-calls", toolCallID, "record")
}

// do sends one request to the path and returns the body of the answer.
func (c *Client) do(ctx context.Context, method string, path ...string) (json.RawMessage, error) {
	at := c.base + "/v1"
	for _, part := range path {
		at += "/" + url.PathEscape(part)
	}
	req, err := http.NewRequestWithContext(ctx, method, at, nil)
	if err != nil {
		return nil, ErrURL
	}
	req.Header.Set("Authorization", "Bearer "+c.key)
	res, err := c.http.Do(req)
	if err != nil {
		return nil, fmt.Errorf("the service at %s does not answer: %s", c.host, reason(err))
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if err != nil {
		return nil, fmt.Errorf("the service at %s stopped in the middle of its answer", c.host)
	}
	if res.StatusCode == http.StatusOK {
		return body, nil
	}
	var said struct {
		Error struct{ Code, Reason, Detail string } `json:"error"`
	}
	if json.Unmarshal(body, &said) != nil || said.Error.Code == "" {
		return nil, fmt.Errorf("%s answered %d, which is not an answer of a toolboundary service", c.host,
			res.StatusCode)
	}
	return nil, fault.Because(fault.Code(said.Error.Code), said.Error.Reason, said.Error.Detail)
}

// reason says why no answer came, without the URL, which the message names already.
func reason(err error) string {
	var wrapped *url.Error
	timeout := false
	if errors.As(err, &wrapped) {
		timeout, err = wrapped.Timeout(), wrapped.Err
	}
	var certificate *tls.CertificateVerificationError
	var op *net.OpError
	switch {
	case errors.Is(err, context.Canceled):
		return "interrupted"
	case errors.As(err, &certificate):
		return "its certificate is not trusted; name its authority with --ca-file"
	case timeout || errors.Is(err, context.DeadlineExceeded):
		return "no answer in time"
	case errors.As(err, &op):
		return op.Error()
	}
	return "what answers there is not an HTTP service, or uses TLS differently"
}
