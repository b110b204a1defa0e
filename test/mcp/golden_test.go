package mcp_test

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/adapters/mcpserver"
	"github.com/toolboundary/toolboundary/application"
	"github.com/toolboundary/toolboundary/test/contract/inboundtest"
	"github.com/toolboundary/toolboundary/test/rig"
)

var update = flag.Bool("update", false, "rewrite the golden files from what the server answers")

// TestGolden20260728 holds the wire of revision 2026-07-28, byte for byte: each file is one
// conversation on a fresh service whose run is r1, as requests and the responses to them.
func TestGolden20260728(t *testing.T) {
	files, err := filepath.Glob("testdata/2026-07-28/*.txtar")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			require.NoError(t, err)
			g := rig.New(t, application.Options{})
			server, err := mcpserver.New(g.Service, g.Log, mcpserver.Options{Version: "1.2.3"})
			require.NoError(t, err)
			token := g.Open(t, inboundtest.RunRequest{ID: "r1"})
			handler := server.Handler()
			got := &txtar.Archive{Comment: archive.Comment}
			for _, part := range archive.Files {
				if !strings.HasPrefix(part.Name, "request") {
					continue
				}
				got.Files = append(got.Files, part, txtar.File{
					Name: strings.Replace(part.Name, "request", "response", 1),
					Data: exchange(t, handler, strings.ReplaceAll(string(part.Data), "$TOKEN", token)),
				})
			}
			if *update {
				require.NoError(t, os.WriteFile(file, txtar.Format(got), 0o644)) //nolint:gosec // a test's file
				return
			}
			require.Equal(t, string(txtar.Format(archive)), string(txtar.Format(got)))
		})
	}
}

// exchange sends a request in HTTP/1.1's own form and returns the response in it, with those
// headers only that the server chooses.
func exchange(t *testing.T, handler http.Handler, text string) []byte {
	t.Helper()
	head, body, _ := strings.Cut(text, "\n\n")
	body = strings.TrimSuffix(body, "\n")
	wire := strings.ReplaceAll(head, "\n", "\r\n") + fmt.Sprintf("\r\nContent-Length: %d\r\n\r\n", len(body)) + body
	req, err := http.ReadRequest(bufio.NewReader(strings.NewReader(wire)))
	require.NoError(t, err)
	recorder := httptest.NewRecorder()
	handler.ServeHTTP(recorder, req)
	res := recorder.Result()
	defer func() { _ = res.Body.Close() }()
	answer, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	var out bytes.Buffer
	fmt.Fprintf(&out, "HTTP/1.1 %d %s\n", res.StatusCode, http.StatusText(res.StatusCode))
	var headers []string
	for name, values := range res.Header {
		for _, value := range values {
			headers = append(headers, name+": "+value)
		}
	}
	slices.Sort(headers)
	for _, line := range headers {
		fmt.Fprintln(&out, line)
	}
	fmt.Fprintf(&out, "\n%s\n", bytes.TrimRight(answer, "\n"))
	return out.Bytes()
}
