package redisstore

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/redis/go-redis/v9"
)

// Check examines the servers that the store will use. It returns an error, in words for the operator,
// when the store cannot keep its promises on them: a version before Redis 7.0, a replica, scripts that
// are not permitted, a policy that evicts keys. The warnings say what may be lost. The error is
// ErrNoAnswer when a server could not be asked.
func (s *Store) Check(ctx context.Context) (warnings []string, err error) {
	var mu sync.Mutex
	seen := map[string]bool{}
	look := func(ctx context.Context, c *redis.Client) error {
		w, err := s.checkServer(ctx, c)
		mu.Lock()
		defer mu.Unlock()
		for _, line := range w {
			if !seen[line] {
				seen[line] = true
				warnings = append(warnings, line)
			}
		}
		return err
	}
	switch c := s.client.(type) {
	case *redis.ClusterClient:
		asked := false
		err = c.ForEachMaster(ctx, func(ctx context.Context, c *redis.Client) error {
			asked = true
			return look(ctx, c)
		})
		if err != nil && !asked {
			err = errServer("finding its masters", err) // whose text has addresses
		}
	case *redis.Client:
		err = look(ctx, c)
	}
	return warnings, err
}

// ErrNoAnswer says that a server could not be asked. It may come back, and then the store works.
var ErrNoAnswer = errors.New("no answer")

// errServer hides what a server or the network said: it may name addresses and users.
func errServer(what string, cause error) error {
	switch text := cause.Error(); {
	case strings.HasPrefix(text, "NOAUTH"), strings.HasPrefix(text, "WRONGPASS"):
		return fmt.Errorf("redis: %s: user name or password are not accepted", what)
	case strings.HasPrefix(text, "NOPERM"):
		return fmt.Errorf("redis: %s: the user lacks a permission (docs/store.md lists them)", what)
	default:
		return fmt.Errorf("redis: %s: %w", what, ErrNoAnswer)
	}
}

func (s *Store) checkServer(ctx context.Context, c *redis.Client) (warnings []string, err error) {
	info, err := serverInfo(ctx, c)
	if err != nil {
		return nil, errServer("reading its INFO", err)
	}
	if v := info["redis_version"]; !atLeast7(v) {
		return nil, fmt.Errorf("redis: version %q is older than 7.0", v)
	}
	if info["role"] != "master" {
		return nil, errors.New("redis: the server is a replica: name the master, or the sentinels with master_name")
	}
	if info["loading"] == "1" {
		return nil, fmt.Errorf("redis: the server is still loading its data: %w", ErrNoAnswer)
	}
	switch policy := info["maxmemory_policy"]; {
	case policy == "noeviction":
	case s.evicting:
		warnings = append(warnings,
			fmt.Sprintf("maxmemory-policy is %s: Redis may drop records and runs before their time", policy))
	default:
		return nil, fmt.Errorf("redis: maxmemory-policy is %s, which drops records before their time: "+
			"set noeviction, or allow eviction in the configuration", policy)
	}
	if info["maxmemory"] == "0" {
		warnings = append(warnings, "maxmemory is not set: a full machine ends Redis instead of refusing calls")
	}
	if info["aof_enabled"] != "1" {
		warnings = append(warnings,
			"the append-only file is off: a restart of Redis loses what was recorded since its last snapshot")
	}
	return warnings, s.probe(ctx, c)
}

// probe executes a script that writes nothing, to see whether scripts, their flags and the clock are
// permitted.
func (s *Store) probe(ctx context.Context, c *redis.Client) error {
	err := c.Eval(ctx, endedScript.text, []string{s.keys.run("")}).Err()
	// MOVED is for the slot of another master, and comes after the script was read.
	if err != nil && !strings.HasPrefix(err.Error(), "MOVED") {
		return errServer("running a script", err)
	}
	return nil
}

func serverInfo(ctx context.Context, c *redis.Client) (map[string]string, error) {
	text, err := c.Info(ctx).Result()
	if err != nil {
		return nil, err
	}
	info := map[string]string{}
	for line := range strings.Lines(text) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		info[name] = value
	}
	return info, nil
}

// atLeast7 reads a version; Valkey gives the version of Redis that it is compatible with.
func atLeast7(version string) bool {
	major, _, _ := strings.Cut(version, ".")
	n, err := strconv.Atoi(major)
	return err == nil && n >= 7
}
