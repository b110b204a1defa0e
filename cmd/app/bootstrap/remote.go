package bootstrap

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
	"os"
	"strings"
	"time"

	"github.com/toolboundary/toolboundary/adapters/cli"
	"github.com/toolboundary/toolboundary/config"
	"github.com/toolboundary/toolboundary/domain/fault"
)

const (
	remoteTimeout = 30 * time.Second
	maxAnswer     = 1 << 30 // a record with all its limits at their ceilings
)

func runPath(id string, more ...string) string {
	path := "/v1/runs/" + url.PathEscape(id)
	for _, part := range more {
		path += "/" + url.PathEscape(part)
	}
	return path
}

func (p *parts) runOverview(ctx context.Context, at cli.Service, id string) (json.RawMessage, error) {
	return request(ctx, at, http.MethodGet, runPath(id))
}

func (p *parts) runCancel(ctx context.Context, at cli.Service, id string) (json.RawMessage, error) {
	return request(ctx, at, http.MethodPost, runPath(id, "cancel"))
}

func (p *parts) record(ctx context.Context, at cli.Service, runID, toolCallID string) (json.RawMessage, error) {
	return request(ctx, at, http.MethodGet, runPath(runID, "tool-calls", toolCallID, "record"))
}

// request sends one request to a running service with a harness key. The error is a fault when the
// service answered with one; no error carries the key.
func request(ctx context.Context, at cli.Service, method, path string) (json.RawMessage, error) {
	base, err := url.Parse(at.URL)
	if err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https" || base.User != nil {
		return nil, cli.UsageError{Err: errors.New("--server must be a URL such as https://toolboundary.example.com:8080, without a user name")}
	}
	key, err := harnessKey(at)
	if err != nil {
		return nil, cli.UsageError{Err: err}
	}
	client, err := remoteClient(at.CAFile)
	if err != nil {
		return nil, cli.UsageError{Err: err}
	}
	ctx, cancel := context.WithTimeout(ctx, remoteTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, strings.TrimRight(at.URL, "/")+path, nil)
	if err != nil {
		return nil, cli.UsageError{Err: errors.New("--server and the ids do not make a URL")}
	}
	req.Header.Set("Authorization", "Bearer "+key.Reveal())
	res, err := client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("the service at %s does not answer: %s", base.Host, transport(err))
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if err != nil {
		return nil, fmt.Errorf("the service at %s stopped in the middle of its answer", base.Host)
	}
	if res.StatusCode == http.StatusOK {
		return body, nil
	}
	var said struct {
		Error struct{ Code, Reason, Detail string } `json:"error"`
	}
	if json.Unmarshal(body, &said) != nil || said.Error.Code == "" {
		return nil, fmt.Errorf("%s answered %d, which is no answer of a toolboundary service", base.Host, res.StatusCode)
	}
	return nil, fault.Because(fault.Code(said.Error.Code), said.Error.Reason, said.Error.Detail)
}

func harnessKey(at cli.Service) (config.Secret, error) {
	if at.KeyFile != "" {
		return config.SecretFromFile("--key-file", at.KeyFile)
	}
	return config.SecretFromEnv(os.LookupEnv, "--key-env", at.KeyEnv)
}

// remoteClient never follows a redirect: the key would go along.
func remoteClient(caFile string) (*http.Client, error) {
	t := &http.Transport{Proxy: http.ProxyFromEnvironment, TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12}, DisableKeepAlives: true}
	if caFile != "" {
		pem, err := os.ReadFile(caFile)
		if err != nil {
			return nil, errors.New("--ca-file cannot be read")
		}
		t.TLSClientConfig.RootCAs = x509.NewCertPool()
		if !t.TLSClientConfig.RootCAs.AppendCertsFromPEM(pem) {
			return nil, errors.New("--ca-file holds no certificate in PEM")
		}
	}
	return &http.Client{Transport: t, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}, nil
}

// transport says why no answer came, without the URL, which stands before it already.
func transport(err error) string {
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		err = wrapped.Err
	}
	var certificate *tls.CertificateVerificationError
	var op *net.OpError
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return "no answer in time"
	case errors.Is(err, context.Canceled):
		return "interrupted"
	case errors.As(err, &certificate):
		return "its certificate is not trusted; name its authority with --ca-file"
	case errors.As(err, &op):
		return op.Error()
	}
	return "what answers there is no HTTP service, or speaks TLS differently"
}
