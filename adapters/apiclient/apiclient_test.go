package apiclient_test

import (
	"context"
	"crypto/x509"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/adapters/apiclient"
	"github.com/toolboundary/toolboundary/domain/fault"
)

const key = "canary-harness-key"

// serve answers every request and returns its URL.
func serve(t *testing.T, answer http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(answer)
	t.Cleanup(s.Close)
	return s.URL
}

func client(t *testing.T, opt apiclient.Options) *apiclient.Client {
	t.Helper()
	opt.Key = key
	c, err := apiclient.New(opt)
	require.NoError(t, err)
	return c
}

func TestRequests(t *testing.T) {
	at := serve(t, func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "%s %s %s", r.Method, r.URL.EscapedPath(), r.Header.Get("Authorization"))
	})
	c := client(t, apiclient.Options{URL: at + "/"})
	for name, row := range map[string]struct {
		do   func(ctx context.Context) (string, error)
		want string
	}{
		"run": {func(ctx context.Context) (string, error) {
			body, err := c.Run(ctx, "r/1 ?")
			return string(body), err
		}, "GET /v1/runs/r%2F1%20%3F"},
		"cancel": {func(ctx context.Context) (string, error) {
			body, err := c.Cancel(ctx, "r1")
			return string(body), err
		}, "POST /v1/runs/r1/cancel"},
		"record": {func(ctx context.Context) (string, error) {
			body, err := c.Record(ctx, "r1", "call/1")
			return string(body), err
		}, "GET /v1/runs/r1/tool-calls/call%2F1/record"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := row.do(t.Context())
			require.NoError(t, err)
			require.Equal(t, row.want+" Bearer "+key, got)
		})
	}
}

func TestAFaultOfTheServiceIsReturned(t *testing.T) {
	c := client(t, apiclient.Options{URL: serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprint(w, `{"error":{"code":"RUN_NOT_FOUND","message":"m","reason":"R","detail":"d"}}`)
	})})
	_, err := c.Run(t.Context(), "r1")
	require.Equal(t, fault.Because(fault.RunNotFound, "R", "d"), err)
}

func TestOtherAnswers(t *testing.T) {
	stranger := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(stranger.Close)
	trusted := x509.NewCertPool()
	trusted.AddCert(stranger.Certificate())
	elsewhere := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("the redirect was followed with the key %q", r.Header.Get("Authorization"))
	})
	closed := httptest.NewServer(http.NotFoundHandler())
	closed.Close()
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for name, row := range map[string]struct {
		ctx  context.Context
		opt  apiclient.Options
		want string
	}{
		"not a fault": {t.Context(), apiclient.Options{URL: serve(t, http.NotFound)},
			"answered 404, which is not an answer of"},
		"a redirect": {t.Context(), apiclient.Options{URL: serve(t, func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, elsewhere, http.StatusTemporaryRedirect)
		})}, "answered 307"},
		"half an answer": {t.Context(), apiclient.Options{URL: serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "10")
			fmt.Fprint(w, "half")
		})}, "stopped in the middle"},
		"an untrusted certificate": {t.Context(), apiclient.Options{URL: stranger.URL}, "certificate is not trusted"},
		"a trusted certificate": {t.Context(), apiclient.Options{URL: stranger.URL, RootCAs: trusted},
			"answered 404"},
		"TLS where there is none": {t.Context(),
			apiclient.Options{URL: "https" + strings.TrimPrefix(elsewhere, "http")},
			"not an HTTP service"},
		"nobody":      {t.Context(), apiclient.Options{URL: closed.URL}, "refused"},
		"interrupted": {ended, apiclient.Options{URL: closed.URL}, "interrupted"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := client(t, row.opt).Run(row.ctx, "r1")
			require.ErrorContains(t, err, row.want)
			require.NotContains(t, err.Error(), key)
		})
	}
}

func TestTheURLIsChecked(t *testing.T) {
	for _, wrong := range []string{"", "host:8080", "ftp://host", "http://", "http://user@host", "http://ho st"} {
		_, err := apiclient.New(apiclient.Options{URL: wrong})
		require.ErrorIs(t, err, apiclient.ErrURL, wrong)
	}
}
