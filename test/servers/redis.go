package servers

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

const redisEnv = "TOOLBOUNDARY_TEST_REDIS_ADDR"

// RedisServer is one running Redis (or Valkey).
type RedisServer struct {
	*Process
	Product string // Redis or Valkey
	Version string
	Addr    string // host:port
}

// Redis starts a private server that ends with the test; args are added to its command line
// (`"--appendonly", "yes"`). It persists nothing unless args say so. Without args it returns the
// server of TOOLBOUNDARY_TEST_REDIS_ADDR when that is set.
func Redis(t testing.TB, args ...string) *RedisServer {
	t.Helper()
	if addr := os.Getenv(redisEnv); addr != "" && len(args) == 0 {
		r, err := namedRedis(addr)
		if err != nil {
			t.Fatalf("Redis: %v", err)
		}
		report(t, r.Product, r.Version, r.Addr)
		return r
	}
	r := startRedis(t, args...)
	report(t, r.Product, r.Version, r.Addr)
	return r
}

// startRedis starts one server and leaves it to the caller to report it.
func startRedis(t testing.TB, args ...string) *RedisServer {
	t.Helper()
	binary, product, version, err := redisBinary()
	if err != nil {
		t.Fatalf("Redis: %v", err)
	}
	process, port, err := startOnFreePort("redis", func(port int, dir string) (*Process, error) {
		argv := []string{binary, "--port", strconv.Itoa(port), "--bind", "127.0.0.1",
			"--dir", dir, "--save", "", "--databases", "16"}
		return &Process{name: product, argv: append(argv, args...), dir: dir, ready: "eady to accept connections"}, nil
	})
	if err != nil {
		t.Fatalf("Redis: %v", err)
	}
	r := &RedisServer{Process: process, Product: product, Version: version, Addr: loopback(port)}
	t.Cleanup(func() {
		if err := r.discard(); err != nil {
			t.Errorf("stop Redis: %v", err)
		}
	})
	return r
}

var redisVersion = regexp.MustCompile(`^(\w+) server v=(\S+)`)

func redisBinary() (path, product, version string, err error) {
	path, err = lookFor("redis-server", "valkey-server")
	if err != nil {
		return "", "", "", err
	}
	out, err := exec.Command(path, "--version").Output()
	if err != nil {
		return "", "", "", fmt.Errorf("%s --version: %w", path, err)
	}
	m := redisVersion.FindSubmatch(out)
	if m == nil {
		return "", "", "", fmt.Errorf("%s --version says neither Redis nor Valkey", path)
	}
	return path, string(m[1]), string(m[2]), nil
}

var infoVersion = regexp.MustCompile(`(?m)^(redis|valkey)_version:(\S+)`)

func namedRedis(addr string) (*RedisServer, error) {
	client := redis.NewClient(&redis.Options{Addr: addr})
	defer client.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	info, err := client.Info(ctx, "server").Result()
	if err != nil {
		return nil, fmt.Errorf("the server of %s does not answer: %w", redisEnv, err)
	}
	r := &RedisServer{
		Process: &Process{name: "the server of " + redisEnv},
		Product: "Redis", Version: "unknown", Addr: addr,
	}
	for _, m := range infoVersion.FindAllStringSubmatch(info, -1) {
		if m[1] == "valkey" { // Valkey also gives the Redis version it is compatible with
			r.Product, r.Version = "Valkey", m[2]
			break
		}
		r.Version = m[2]
	}
	return r, nil
}

// Client returns a plain client of this server, closed with the test.
func (r *RedisServer) Client(t testing.TB) *redis.Client {
	t.Helper()
	client := redis.NewClient(&redis.Options{Addr: r.Addr})
	t.Cleanup(func() { client.Close() })
	return client
}
