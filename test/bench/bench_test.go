package bench

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	driver "github.com/go-sql-driver/mysql"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/toolboundary/toolboundary/adapters/mysql"
	"github.com/toolboundary/toolboundary/adapters/mysql/server"
	"github.com/toolboundary/toolboundary/adapters/mysql/sqlguard"
	"github.com/toolboundary/toolboundary/adapters/projectors/rows"
	"github.com/toolboundary/toolboundary/adapters/redisstore"
	"github.com/toolboundary/toolboundary/adapters/systemclock"
	"github.com/toolboundary/toolboundary/application"
	"github.com/toolboundary/toolboundary/domain/limits"
	"github.com/toolboundary/toolboundary/domain/run"
	"github.com/toolboundary/toolboundary/ports/toolset"
	"github.com/toolboundary/toolboundary/test/rig"
	"github.com/toolboundary/toolboundary/test/servers"
)

const (
	rounds      = 5
	mostCallers = 32
	statement   = "SELECT id, body FROM answers WHERE kind = ?"
)

// kinds are the sizes of answers: so many rows of so many bytes.
var kinds = []struct {
	name       string
	rows, size int
	ops        int // calls of one round, over all callers
}{{"1KiB", 8, 120, 400}, {"32KiB", 32, 1000, 200}, {"1MiB", 256, 4090, 24}}

// side is one of the two that are compared.
type side struct {
	name string
	call func(ctx context.Context, kind string) error
}

// measured is what a round of one side took.
type measured struct {
	p50        time.Duration
	throughput float64 // calls per second
	allocs     float64 // per call
}

func BenchmarkBoundaryAgainstFloor(b *testing.B) {
	db, rd := servers.MariaDB(b), servers.Redis(b)
	load(b, db)
	user, password := db.Account(b, "SELECT ON bench.*")
	sides := [2]side{boundary(b, db, rd, user, password), floor(b, db, rd, user, password)}
	for b.Loop() { // -benchtime 1x: one pass is the whole table
		say("\n%-6s %7s | %9s %9s %6s | %9s %9s %6s | %7s %7s",
			"answer", "callers", "p50", "floor", "ratio", "calls/s", "floor", "ratio", "allocs", "floor")
		for _, k := range kinds {
			for _, callers := range []int{1, 8, mostCallers} {
				row(b, sides, k.name, callers, k.ops)
			}
		}
	}
}

// row measures one line of the table, the sides in turn.
func row(b *testing.B, sides [2]side, kind string, callers, ops int) {
	b.Helper()
	var got [2][]measured
	for _, s := range sides {
		round(b, s, kind, callers, ops/2) // warm-up
	}
	for range rounds {
		for i, s := range sides {
			got[i] = append(got[i], round(b, s, kind, callers, ops))
		}
	}
	p50 := medians(got, func(m measured) float64 { return float64(m.p50) })
	rate := medians(got, func(m measured) float64 { return m.throughput })
	allocs := medians(got, func(m measured) float64 { return m.allocs })
	say("%-6s %7d | %9v %9v %5.2fx | %9.0f %9.0f %5.2fx | %7.0f %7.0f", kind, callers,
		time.Duration(p50[0]).Round(time.Microsecond), time.Duration(p50[1]).Round(time.Microsecond), p50[0]/p50[1],
		rate[0], rate[1], rate[0]/rate[1], allocs[0], allocs[1])
	b.ReportMetric(p50[0]/p50[1], fmt.Sprintf("p50-ratio-%s-%d", kind, callers))
	b.ReportMetric(rate[0]/rate[1], fmt.Sprintf("rate-ratio-%s-%d", kind, callers))
}

// say prints a line of the table; the testing package would cut the benchmark's own log.
func say(format string, args ...any) { fmt.Fprintf(os.Stdout, format+"\n", args...) }

// medians returns the median of each side.
func medians(got [2][]measured, of func(measured) float64) (m [2]float64) {
	for side, list := range got {
		values := make([]float64, 0, len(list))
		for _, one := range list {
			values = append(values, of(one))
		}
		slices.Sort(values)
		m[side] = values[len(values)/2]
	}
	return m
}

func round(b *testing.B, s side, kind string, callers, ops int) measured {
	b.Helper()
	took := make([]time.Duration, max(ops, 1))
	var next atomic.Int64
	var all sync.WaitGroup
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	since := time.Now()
	for range callers {
		all.Go(func() {
			for i := next.Add(1) - 1; int(i) < len(took); i = next.Add(1) - 1 {
				began := time.Now()
				if err := s.call(b.Context(), kind); err != nil {
					b.Errorf("%s: %v", s.name, err)
					return
				}
				took[i] = time.Since(began)
			}
		})
	}
	all.Wait()
	elapsed := time.Since(since)
	runtime.ReadMemStats(&after)
	slices.Sort(took)
	n := float64(len(took))
	return measured{took[len(took)/2], n / elapsed.Seconds(), float64(after.Mallocs-before.Mallocs) / n}
}

func load(b *testing.B, db *servers.MySQL) {
	b.Helper()
	var script strings.Builder
	script.WriteString("CREATE DATABASE bench; CREATE TABLE bench.answers " +
		"(id INT PRIMARY KEY, kind VARCHAR(8), body TEXT, KEY (kind));\n")
	id := 0
	for _, k := range kinds {
		for range k.rows {
			id++
			fmt.Fprintf(&script, "INSERT INTO bench.answers VALUES (%d, '%s', REPEAT('x', %d));\n", id, k.name, k.size)
		}
	}
	db.Load(b, script.String())
}

// queryTool is mysql_query on the table of the benchmark.
func queryTool(b *testing.B, db *servers.MySQL, user, password string) *mysql.Executor {
	b.Helper()
	columns := []sqlguard.Column{{Name: "id"}, {Name: "kind"}, {Name: "body"}}
	guard, err := sqlguard.New(sqlguard.Policy{
		DefaultSchema: "bench", MaxRows: 1000,
		Tables: []sqlguard.Table{{Schema: "bench", Name: "answers", Columns: columns}},
	})
	require.NoError(b, err)
	source := mysql.Source{Guard: guard, Source: server.Source{
		ID: "bench", Address: db.Addr, MaxConnections: mostCallers,
		Account: func() (string, string, error) { return user, password, nil },
	}}
	tool, err := mysql.New([]mysql.Source{source}, mysql.Options{}, zap.NewNop())
	require.NoError(b, err)
	b.Cleanup(func() { _ = tool.Close(context.Background()) })
	return tool
}

// boundary is the whole of it: guard, budgets, record, projection.
func boundary(b *testing.B, db *servers.MySQL, rd *servers.RedisServer, user, password string) side {
	b.Helper()
	store, err := redisstore.New(redisstore.Options{Addrs: []string{rd.Addr}})
	require.NoError(b, err)
	b.Cleanup(func() { _ = store.Close() })
	budget := run.Budget{MaxCalls: 1 << 40, MaxBytes: 1 << 50, MaxRefusals: 10}
	svc := rig.Compose(b, store, systemclock.Clock{}, zap.NewNop(),
		application.Options{Ceilings: application.Ceilings{MaxTTL: time.Hour, RecordTTL: time.Hour, Budget: budget}},
		toolset.Entry{Executor: queryTool(b, db, user, password), Projector: rows.Projector{}})
	r, _, err := svc.Open(b.Context(), rig.Harness,
		application.OpenRequest{RunID: "bench", Grants: svc.Catalogue.All()})
	require.NoError(b, err)
	rc := application.ContextOf(r)
	agent := application.Caller{Agent: &rc}
	var n atomic.Int64
	return side{"boundary", func(ctx context.Context, kind string) error {
		request, err := json.Marshal(map[string]any{"data_source": "bench", "sql": statement, "params": []any{kind}})
		if err != nil {
			return err
		}
		res := svc.Invoke(ctx, agent, application.Call{
			RunID: "bench", ToolCallID: fmt.Sprintf("call_%d", n.Add(1)), ToolName: mysql.Name, Request: request,
		})
		if f := res.Fault; f != nil {
			return fmt.Errorf("%w (%s: %s)", f, f.Reason, f.Detail)
		}
		return nil
	}}
}

// floor prepares, executes and closes the same statement by the bare driver, and sets and
// replaces a key with as many bytes as the record has.
func floor(b *testing.B, db *servers.MySQL, rd *servers.RedisServer, user, password string) side {
	b.Helper()
	cfg := driver.NewConfig()
	cfg.Net, cfg.Addr, cfg.User, cfg.Passwd, cfg.DBName = "tcp", db.Addr, user, password, "bench"
	connector, err := driver.NewConnector(cfg)
	require.NoError(b, err)
	bare := sql.OpenDB(connector)
	bare.SetMaxIdleConns(mostCallers)
	bare.SetMaxOpenConns(mostCallers)
	client := redis.NewClient(&redis.Options{Addr: rd.Addr, Protocol: 2, DisableIdentity: true, PoolSize: 64})
	b.Cleanup(func() { _, _ = bare.Close(), client.Close() })
	begun := strings.Repeat("b", 700)
	var n atomic.Int64
	return side{"floor", func(ctx context.Context, kind string) error {
		key := fmt.Sprintf("floor:%d", n.Add(1))
		if err := client.SetArgs(ctx, key, begun, redis.SetArgs{Mode: "NX", TTL: time.Hour}).Err(); err != nil {
			return err
		}
		answer, err := query(ctx, bare, kind)
		if err != nil {
			return err
		}
		record := make([]byte, 0, len(begun)+len(answer)+int(limits.Default().AgentResult))
		record = append(append(record, begun...), answer...)
		record = append(record, answer[:min(len(answer), int(limits.Default().AgentResult))]...)
		return client.SetArgs(ctx, key, record, redis.SetArgs{Mode: "XX", KeepTTL: true}).Err()
	}}
}

func query(ctx context.Context, db *sql.DB, kind string) ([]byte, error) {
	rows, err := db.QueryContext(ctx, statement, kind)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []byte
	var id, body sql.RawBytes
	for rows.Next() {
		if err := rows.Scan(&id, &body); err != nil {
			return nil, err
		}
		out = append(append(out, id...), body...)
	}
	return out, rows.Err()
}
