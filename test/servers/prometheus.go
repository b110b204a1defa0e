package servers

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// MetricsServer is one running server of the Prometheus HTTP API.
type MetricsServer struct {
	*Process
	Product string // Prometheus or VictoriaMetrics
	Version string
	URL     string // http://host:port
}

var versionForm = regexp.MustCompile(`\d+\.\d+\.\d+`)

// Prometheus starts a private Prometheus that scrapes nothing and holds the samples of an
// OpenMetrics text (lines "name{labels} value seconds", "# EOF" at the end). It ends with the test;
// args are added to its command line.
func Prometheus(t testing.TB, openMetrics string, args ...string) *MetricsServer {
	t.Helper()
	binary, err := lookFor("prometheus")
	if err != nil {
		t.Fatalf("Prometheus: %v", err)
	}
	process, port, err := startOnFreePort("prometheus", func(port int, dir string) (*Process, error) {
		if err := importBlocks(dir, openMetrics); err != nil {
			return nil, err
		}
		argv := []string{binary,
			"--config.file=" + filepath.Join(dir, "prometheus.yml"), "--storage.tsdb.path=" + filepath.Join(dir, "data"),
			"--web.listen-address=" + loopback(port), "--storage.tsdb.retention.time=3650d"}
		const ready = "Server is ready to receive web requests"
		return &Process{name: "Prometheus", argv: append(argv, args...), dir: dir, ready: ready}, nil
	})
	if err != nil {
		t.Fatalf("Prometheus: %v", err)
	}
	version, err := exec.Command(binary, "--version").CombinedOutput()
	if err != nil {
		t.Fatalf("Prometheus: %v", err)
	}
	return metricsServer(t, process, "Prometheus", string(version), port)
}

// importBlocks writes the configuration and the samples that the server starts with.
func importBlocks(dir, openMetrics string) error {
	promtool, err := lookFor("promtool")
	if err != nil {
		return err
	}
	text, config := filepath.Join(dir, "samples.txt"), filepath.Join(dir, "prometheus.yml")
	for path, content := range map[string]string{text: openMetrics, config: "global: {scrape_interval: 1h}\n"} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			return err
		}
	}
	load := exec.Command(promtool, "tsdb", "create-blocks-from", "openmetrics", text, filepath.Join(dir, "data"))
	out, err := load.CombinedOutput()
	if err != nil {
		return fmt.Errorf("promtool: %w\n%s", err, tail(out))
	}
	return nil
}

// VictoriaMetrics starts a private VictoriaMetrics that holds the samples of the same text as Prometheus takes.
func VictoriaMetrics(t testing.TB, openMetrics string) *MetricsServer {
	t.Helper()
	binary, err := lookFor("victoria-metrics", "victoria-metrics-prod")
	if err != nil {
		t.Fatalf("VictoriaMetrics: %v", err)
	}
	process, port, err := startOnFreePort("victoriametrics", func(port int, dir string) (*Process, error) {
		argv := []string{binary,
			"-storageDataPath=" + filepath.Join(dir, "data"), "-httpListenAddr=" + loopback(port),
			"-retentionPeriod=100y", "-search.latencyOffset=1s"}
		return &Process{name: "VictoriaMetrics", argv: argv, dir: dir, ready: "started VictoriaMetrics in"}, nil
	})
	if err != nil {
		t.Fatalf("VictoriaMetrics: %v", err)
	}
	s := metricsServer(t, process, "VictoriaMetrics", "", port)
	if err := s.push(t.Context(), openMetrics); err != nil {
		t.Fatalf("VictoriaMetrics: %v", err)
	}
	return s
}

func metricsServer(t testing.TB, p *Process, product, version string, port int) *MetricsServer {
	t.Helper()
	s := &MetricsServer{
		Process: p, Product: product, Version: versionForm.FindString(version), URL: "http://" + loopback(port),
	}
	if s.Version == "" {
		s.Version = "of an unknown version" // distributions build VictoriaMetrics without one
	}
	t.Cleanup(func() {
		if err := p.discard(); err != nil {
			t.Errorf("stop %s: %v", product, err)
		}
	})
	// VictoriaMetrics says that it has started before it listens.
	ctx, cancel := context.WithTimeout(t.Context(), startLimit)
	defer cancel()
	if err := poll(ctx, func() bool {
		conn, err := net.DialTimeout("tcp", loopback(port), time.Second)
		if err == nil {
			conn.Close()
		}
		return err == nil
	}); err != nil {
		t.Fatalf("%s: it does not listen: %v", product, err)
	}
	report(t, s.Product, s.Version, loopback(port))
	return s
}

// push imports the samples, whose times the import takes in milliseconds, and makes them visible to queries.
func (s *MetricsServer) push(ctx context.Context, openMetrics string) error {
	var lines bytes.Buffer
	for line := range strings.Lines(openMetrics) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			lines.WriteString(line + "000\n")
		}
	}
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	for _, step := range []struct {
		path string
		body io.Reader
	}{{"/api/v1/import/prometheus", &lines}, {"/internal/force_flush", nil}} {
		request, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL+step.path, step.body)
		if err != nil {
			return err
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return err
		}
		response.Body.Close()
		if response.StatusCode >= 300 {
			return fmt.Errorf("%s: %s", step.path, response.Status)
		}
	}
	return nil
}
