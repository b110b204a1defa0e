package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

// stack is a running database and a running service.
type stack struct {
	out           io.Writer
	dir, url, key string
	processes     []*exec.Cmd
	log           *tail
}

const configuration = `server: {listen: "127.0.0.1:0"}
auth:
  harness_keys: [{name: demo, key_env: TOOLBOUNDARY_HARNESS_KEY}]
  token_keys: [{id: k1, key_env: TOOLBOUNDARY_TOKEN_KEY}]
store: {kind: memory}
data_sources:
  shop:
    address: %s
    user_env: SHOP_USER
    password_env: SHOP_PASSWORD
    default_schema: shop
    allow:
      shop.customers: [id, name, {column: email, sensitive: true}, country, created_at, vip]
      shop.orders: [id, customer_id, status, total, placed_at]
      shop.order_items: [order_id, line_no, sku, qty, unit_price]
      shop.products: [sku, title, category, price, in_stock]
`

func start(ctx context.Context, out io.Writer, app, db, seed string) (*stack, error) {
	dir, err := os.MkdirTemp("", "toolboundary-demo-")
	if err != nil {
		return nil, err
	}
	s := &stack{out: out, dir: dir, key: secret(), log: &tail{}}
	user, password := "demo", secret()
	env := append(os.Environ(), "DEMO_DB_USER="+user, "DEMO_DB_PASSWORD="+password, "SHOP_USER="+user, "SHOP_PASSWORD="+password,
		"TOOLBOUNDARY_HARNESS_KEY="+s.key, "TOOLBOUNDARY_TOKEN_KEY="+secret())
	address, err := s.launch(ctx, env, false, addressLine, db, "--listen", "127.0.0.1:0", "--seed", seed)
	if err == nil {
		file := filepath.Join(dir, "toolboundary.yaml")
		err = os.WriteFile(file, fmt.Appendf(nil, configuration, address), 0o600)
		if err == nil {
			address, err = s.launch(ctx, env, true, listeningLine, app, "serve", "--config", file)
		}
	}
	if err != nil {
		s.stop()
		return nil, err
	}
	s.url = "http://" + address
	return s, nil
}

// launch starts a program and returns the address that it says it listens on.
func (s *stack) launch(ctx context.Context, env []string, onStderr bool, find func(string) string, name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.Env = env
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C reaches only us; we stop them in order
	cmd.Stderr = s.log
	pipe, err := cmd.StdoutPipe()
	if onStderr {
		cmd.Stdout, cmd.Stderr = nil, nil
		pipe, err = cmd.StderrPipe()
	}
	if err != nil {
		return "", err
	}
	if err := cmd.Start(); err != nil {
		return "", fmt.Errorf("cannot start %s: %w", name, err)
	}
	s.processes = append(s.processes, cmd)
	found := make(chan string, 1)
	go func() {
		defer close(found)
		lines, told := bufio.NewScanner(pipe), false
		for lines.Scan() {
			if address := find(lines.Text()); address != "" && !told {
				told = true
				found <- address
			}
			_, _ = io.WriteString(s.log, lines.Text()+"\n")
		}
	}()
	select {
	case address, ok := <-found:
		if !ok {
			return "", fmt.Errorf("%s ended before it was ready:\n%s", name, s.log)
		}
		return address, nil
	case <-time.After(60 * time.Second):
		return "", fmt.Errorf("%s was not ready within a minute:\n%s", name, s.log)
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

// addressLine finds host:port in the database's first line.
func addressLine(line string) string {
	fields := strings.Fields(line)
	if len(fields) == 0 || !strings.Contains(fields[len(fields)-1], "127.0.0.1:") {
		return ""
	}
	return fields[len(fields)-1]
}

// listeningLine finds the address in the service's log.
func listeningLine(line string) string {
	var entry struct{ Msg, Address string }
	if json.Unmarshal([]byte(line), &entry) != nil || entry.Msg != "listening" {
		return ""
	}
	return entry.Address
}

// stop ends the service first, then the database.
func (s *stack) stop() {
	for i := len(s.processes) - 1; i >= 0; i-- {
		p := s.processes[i]
		_ = p.Process.Signal(syscall.SIGTERM)
		done := make(chan struct{})
		go func() { defer close(done); _ = p.Wait() }()
		select {
		case <-done:
		case <-time.After(20 * time.Second):
			_ = p.Process.Kill()
			<-done
		}
	}
	_ = os.RemoveAll(s.dir)
}

// call sends a request and returns the status and the body, or an error for no answer.
func (s *stack) call(ctx context.Context, bearer, method, path string, body any) (int, []byte, error) {
	var send io.Reader
	if body != nil {
		b, err := json.Marshal(body)
		if err != nil {
			return 0, nil, err
		}
		send = bytes.NewReader(b)
	}
	req, err := http.NewRequestWithContext(ctx, method, s.url+path, send)
	if err != nil {
		return 0, nil, err
	}
	req.Header.Set("Authorization", "Bearer "+bearer)
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, nil, err
	}
	answer, err := io.ReadAll(res.Body)
	return res.StatusCode, answer, errors.Join(err, res.Body.Close())
}

func secret() string {
	b := make([]byte, 24)
	_, _ = rand.Read(b) // never fails
	return hex.EncodeToString(b)
}

// tail keeps the last lines of the processes' output, for errors.
type tail struct {
	mu    sync.Mutex
	lines []string
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.lines = append(t.lines, strings.TrimRight(string(p), "\n"))
	if len(t.lines) > 20 {
		t.lines = t.lines[len(t.lines)-20:]
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.Join(t.lines, "\n")
}
