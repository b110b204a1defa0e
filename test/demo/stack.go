package main

import (
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
	"slices"
	"syscall"

	"github.com/toolboundary/toolboundary/test/service/process"
)

// stack is a running database and a running service.
type stack struct {
	out           io.Writer
	dir, url, key string
	processes     []*process.Process
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
	s := &stack{out: out, dir: dir, key: secret()}
	if err := s.launchAll(ctx, app, db, seed); err != nil {
		s.stop()
		return nil, err
	}
	return s, nil
}

// launchAll starts the database, and then the service on it.
func (s *stack) launchAll(ctx context.Context, app, db, seed string) error {
	user, password := "demo", secret()
	env := append(os.Environ(),
		"DEMO_DB_USER="+user, "DEMO_DB_PASSWORD="+password,
		"SHOP_USER="+user, "SHOP_PASSWORD="+password,
		"TOOLBOUNDARY_HARNESS_KEY="+s.key, "TOOLBOUNDARY_TOKEN_KEY="+secret())
	address, err := s.launch(ctx, env, process.Address, db, "--listen", "127.0.0.1:0", "--seed", seed)
	if err != nil {
		return err
	}
	file := filepath.Join(s.dir, "toolboundary.yaml")
	if err := os.WriteFile(file, fmt.Appendf(nil, configuration, address), 0o600); err != nil {
		return err
	}
	address, err = s.launch(ctx, env, process.Listening, app, "serve", "--config", file)
	s.url = "http://" + address
	return err
}

// launch starts a program and returns the address on which it listens.
func (s *stack) launch(
	ctx context.Context, env []string, find func(line string) string, name string, args ...string,
) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.Env = env
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C reaches only us; we stop them in order
	p, err := process.Start(ctx, cmd, find)
	if err != nil {
		return "", err
	}
	s.processes = append(s.processes, p)
	return p.Address, nil
}

// stop ends the service first, then the database.
func (s *stack) stop() {
	for _, p := range slices.Backward(s.processes) {
		p.Stop()
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
