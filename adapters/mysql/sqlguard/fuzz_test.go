package sqlguard_test

import (
	"bytes"
	"encoding/json"
	"runtime/debug"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/adapters/mysql/sqlguard"
)

// FuzzPrepare feeds any text: no panic of this package's own code, and what is accepted is a fixed point.
func FuzzPrepare(f *testing.F) {
	for _, file := range []string{"handed", "cases", "oncall"} {
		for _, e := range readEntries(f, "testdata/"+file+".jsonl") {
			if len(e.SQL) <= 4096 {
				f.Add(e.SQL)
			}
		}
	}
	g := shop(f)
	f.Fuzz(func(t *testing.T, sql string) {
		if len(sql) > sqlguard.MaxStatementBytes || !utf8.ValidString(sql) {
			_, err := g.Prepare(sql, nil)
			require.Error(t, err)
			return
		}
		plan := prepareBare(t, g, sql, ones(bytes.Count([]byte(sql), []byte("?"))))
		if plan != nil {
			requireFixedPoint(t, g, plan)
		}
	})
}

// prepareBare fails on a panic unless it comes out of the SQL parser, whose panics are known and caught.
func prepareBare(t *testing.T, g *sqlguard.Guard, sql string, params []sqlguard.Param) *sqlguard.Plan {
	defer func() {
		if p := recover(); p != nil {
			stack := debug.Stack()
			_, below, _ := bytes.Cut(stack, []byte("panic("))
			frames := bytes.SplitN(below, []byte("\n"), 8)
			require.Contains(t, string(bytes.Join(frames[:min(len(frames), 7)], nil)), "pingcap", "%v\n%s\n%q", p, stack, sql)
		}
	}()
	plan, rejection := g.PrepareBare(sql, params)
	if rejection != nil {
		require.NotEmpty(t, rejection.Reason)
		require.NotEmpty(t, rejection.Detail)
		require.LessOrEqual(t, len(rejection.Detail), 600)
		require.True(t, utf8.ValidString(rejection.Detail))
	}
	return plan
}

// FuzzParam feeds any JSON text: it is refused or bound as a value that JSON reads the same.
func FuzzParam(f *testing.F) {
	for _, s := range []string{"1", "-1", "1.5", "1e3", "null", "true", `"a"`, "[]", "{}", "18446744073709551616", "0.1000000000000000055", "-0", " 1 ", "01", `"\ud800"`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := sqlguard.ParamFromJSON(json.RawMessage(text))
		if err != nil {
			return
		}
		if !json.Valid([]byte(text)) {
			t.Fatalf("%q is no JSON and was taken as %v", text, p.DriverValue())
		}
	})
}
