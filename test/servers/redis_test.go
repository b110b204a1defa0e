package servers_test

import (
	"context"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/test/servers"
)

func TestRedisAnswersWithItsOptions(t *testing.T) {
	r := servers.Redis(t, "--maxmemory", "64mb", "--maxmemory-policy", "noeviction")
	require.NotEmpty(t, r.Version)
	limits, err := r.Client(t).ConfigGet(t.Context(), "maxmemory*").Result()
	require.NoError(t, err)
	require.Equal(t, "67108864", limits["maxmemory"])
	require.Equal(t, "noeviction", limits["maxmemory-policy"])
}

func TestRedisServersArePrivate(t *testing.T) {
	a, b := servers.Redis(t, "--appendonly", "no"), servers.Redis(t, "--appendonly", "no")
	require.NoError(t, a.Client(t).Set(t.Context(), "k", "v", 0).Err())
	require.ErrorIs(t, b.Client(t).Get(t.Context(), "k").Err(), redis.Nil)
}

func TestRedisWithPasswordAndACLStarts(t *testing.T) {
	r := servers.Redis(t, "--requirepass", "sesame", "--user", "app", "on", ">pw", "~app:*", "+@all")
	require.ErrorContains(t, r.Client(t).Ping(t.Context()).Err(), "NOAUTH")
	app := redis.NewClient(&redis.Options{Addr: r.Addr, Username: "app", Password: "pw"})
	defer app.Close()
	require.NoError(t, app.Set(t.Context(), "app:k", "v", 0).Err())
	require.ErrorContains(t, app.Set(t.Context(), "other", "v", 0).Err(), "NOPERM")
}

func TestRedisKilledKeepsItsAppendOnlyFile(t *testing.T) {
	r := servers.Redis(t, "--appendonly", "yes", "--appendfsync", "always")
	client := r.Client(t)
	addr := r.Addr
	require.NoError(t, client.Set(t.Context(), "k", "survives", 0).Err())
	r.Kill(t)
	require.Error(t, client.Ping(t.Context()).Err())
	r.Start(t)
	require.Equal(t, addr, r.Addr)
	require.Equal(t, "survives", client.Get(t.Context(), "k").Val())
}

func TestRedisWithoutPersistenceForgetsWhenStopped(t *testing.T) {
	r := servers.Redis(t, "--appendonly", "no")
	client := r.Client(t)
	require.NoError(t, client.Set(t.Context(), "k", "v", 0).Err())
	r.Stop(t)
	r.Stop(t) // stopping what has ended is not an error
	r.Start(t)
	require.ErrorIs(t, client.Get(t.Context(), "k").Err(), redis.Nil)
}

func TestRedisPausedHangsAndResumes(t *testing.T) {
	r := servers.Redis(t, "--appendonly", "no")
	client := redis.NewClient(&redis.Options{Addr: r.Addr, MaxRetries: -1, ContextTimeoutEnabled: true})
	defer client.Close()
	require.NoError(t, client.Set(t.Context(), "k", "v", 0).Err())
	r.Pause(t)
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	require.Error(t, client.Get(ctx, "k").Err())
	r.Resume(t)
	require.Equal(t, "v", client.Get(t.Context(), "k").Val())
	r.Pause(t)
	r.Stop(t) // also ends a paused server
}
