package redisstore

import (
	"context"
	"strings"
	"time"
)

// Facts are what a server reports of itself, for its operator.
type Facts struct {
	// Product is Redis or Valkey; Version is as the server reports it.
	Product, Version string
	// Skew is how far the server's clock is ahead of this machine's, as precisely as the round trip
	// allows.
	Skew time.Duration
	// RoundTrip is how long one command takes.
	RoundTrip time.Duration
}

// Inspect asks one of the servers a few times and returns the facts of the quickest answer, or an error
// in words for the operator.
func (s *Store) Inspect(ctx context.Context) (Facts, error) {
	info, err := s.client.Info(ctx, "server").Result()
	if err != nil {
		return Facts{}, errServer("reading its INFO", err)
	}
	f := Facts{Product: "Redis"}
	for line := range strings.Lines(info) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		switch {
		case name == "redis_version" && f.Version == "":
			f.Version = value
		case name == "valkey_version": // its redis_version is that of the Redis that it is compatible with
			f.Product, f.Version = "Valkey", value
		}
	}
	for range 5 {
		began := time.Now()
		at, err := s.client.Time(ctx).Result()
		if err != nil {
			return Facts{}, errServer("reading its clock", err)
		}
		if took := time.Since(began); f.RoundTrip == 0 || took < f.RoundTrip {
			f.RoundTrip = took
			f.Skew = at.Sub(began.Add(took / 2))
		}
	}
	return f, nil
}
