package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/domain/fault"
)

// now is the clock of the tests: the time at which most of them pretend to be.
type now struct{}

func (now) Now() time.Time { return time.Date(2026, 11, 30, 12, 30, 0, 0, time.UTC) }

// invoke runs a command line and returns exit code, standard output and standard error.
func invoke(t *testing.T, do Functions, in string, args ...string) (code int, out, err string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code = Execute(t.Context(), args, Streams{In: strings.NewReader(in), Out: &stdout, Err: &stderr}, now{}, do)
	return code, stdout.String(), stderr.String()
}

func answering(page string) Functions {
	return Functions{Query: func(context.Context, QueryArgs) (Page, error) {
		var p Page
		return p, json.Unmarshal([]byte(page), &p)
	}}
}

func TestQueryPrintsTableJSONAndCSV(t *testing.T) {
	const page = `{"columns":["id","na,me"],` +
		`"rows":[[1,"Ada"],[9007199254740993,null],["-0.10",""],[{"a":[1]},"x\"y\u001b[31m\n"]],` +
		`"returned":4,"truncated":true,"truncated_by":["rows"]}`
	do := answering(page)
	code, out, stderr := invoke(t, do, "", "query", "SELECT 1")
	require.Zero(t, code, stderr)
	require.Equal(t, `id                na,me
1                 Ada
9007199254740993  NULL
-0.10
{"a":[1]}         x"y\x1b[31m\n
4 row(s)
`, out, "nothing can move the cursor")
	require.Contains(t, stderr, "cut by rows")

	_, out, _ = invoke(t, do, "", "query", "SELECT 1", "--output", "csv")
	lines := []string{`id,"na,me"`, `1,Ada`, `9007199254740993,`, `-0.10,""`, `"{""a"":[1]}","x""y` + "\x1b[31m\n\"",
		""}
	require.Equal(t, strings.Join(lines, "\r\n"), out, "NULL is an empty field, empty text a quoted one")

	_, out, _ = invoke(t, do, "", "query", "SELECT 1", "-o", "json")
	require.JSONEq(t, page, out)
	require.Contains(t, out, "9007199254740993", "a number keeps its digits")
}

func TestQueryArguments(t *testing.T) {
	var got QueryArgs
	do := Functions{Query: func(_ context.Context, a QueryArgs) (Page, error) { got = a; return Page{}, nil }}
	code, _, stderr := invoke(t, do, "SELECT 2", "query", "--max-rows", "7", "--timeout", "1s",
		"--", "-", "1", "-2.5", "true", "null", `"7"`, "O'Brien", "")
	require.Zero(t, code, stderr)
	require.Equal(t, QueryArgs{SQL: "SELECT 2", MaxRows: 7, Timeout: time.Second, Params: got.Params}, got)
	require.Equal(t, `[1,-2.5,true,null,"7","O'Brien",""]`, string(must(json.Marshal(got.Params))))
}

func TestWrongArgumentsAreAUsageError(t *testing.T) {
	for _, line := range []string{
		"query", "query SELECT --max-rows 0", "query SELECT --timeout 1h", "query SELECT --config x",
		"query SELECT -o yaml", "querry SELECT", "runs show r --interval 1ms", "allowlist check -c x",
		"allowlist init -c x --data-source y --user-env U", "config check", "completion tcsh",
	} {
		t.Run(line, func(t *testing.T) {
			code, out, stderr := invoke(t, answering(`{}`), "", strings.Fields(line)...)
			require.Equal(t, Usage, code, out)
			require.Empty(t, out)
			require.NotEmpty(t, stderr)
		})
	}
}

func must(b []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return b
}

func TestFailuresHaveExitCodesAndJSON(t *testing.T) {
	failing := func(err error) Functions {
		return Functions{Query: func(context.Context, QueryArgs) (Page, error) { return Page{}, err }}
	}
	f := fault.Because(fault.QueryRejected, "WRITE", "only SELECT \x1b[2J is allowed").WithCause(errors.New("canary"))
	code, out, stderr := invoke(t, failing(f), "", "query", "x")
	require.Equal(t, Failed, code)
	require.Empty(t, out)
	require.Contains(t, stderr, "QUERY_REJECTED")
	require.Contains(t, stderr, `only SELECT \x1b[2J is allowed`)
	require.NotContains(t, stderr, "canary")

	code, out, stderr = invoke(t, failing(f), "", "query", "x", "-o", "json")
	require.Equal(t, Failed, code)
	require.JSONEq(t, `{"error":{"code":"QUERY_REJECTED","message":"`+fault.QueryRejected.Sentence()+`",`+
		`"reason":"WRITE","detail":"only SELECT \u001b[2J is allowed"}}`, out)
	require.Empty(t, stderr)

	code, _, _ = invoke(t, failing(UsageError{f}), "", "query", "x")
	require.Equal(t, Usage, code)
}

func TestDoctorAndDriftExitWithOne(t *testing.T) {
	do := Functions{
		Doctor: func(context.Context, DoctorArgs) ([]Finding, error) {
			return []Finding{{"shop", "connect", Healthy, "MariaDB", ""},
				{"shop", "kill", Failing, "no\x07", "fix it"}}, nil
		},
		AllowlistCheck: func(context.Context, SourceArgs) (Drifts, error) {
			return Drifts{Drifts: []Drift{{"NEW_COLUMN", "a.b.c", "m", "f"}}, Tables: 1}, nil
		},
	}
	code, out, _ := invoke(t, do, "", "doctor", "-c", "x")
	require.Equal(t, Failed, code)
	require.Contains(t, out, "fail  shop  kill     no\\a")
	require.Contains(t, out, "shop kill: fix it")
	require.Contains(t, out, "2 check(s): 1 failed, 0 warned")
	code, out, _ = invoke(t, do, "", "allowlist", "check", "-c", "x", "--data-source", "shop", "-o", "json")
	require.Equal(t, Failed, code)
	require.JSONEq(t, `{"drifts":[{"kind":"NEW_COLUMN","where":"a.b.c","message":"m","fix":"f"}],`+
		`"tables":1,"unlisted_tables":0,"notes":null}`, out)
}

func TestCompletion(t *testing.T) {
	const commands = "allowlist completion config doctor guard mcp query record runs serve version"
	for _, row := range []struct{ words, want string }{
		{"al", "allowlist"},
		{"", commands},
		{"runs |", "cancel list show"},
		{"runs show --w", "--watch"},
		{"query --output |", "text table json csv"},
		{"query -o j", "json"},
		{"query --config |", ""},
		{"query --config=x --data", "--data-source"},
		{"completion |", "bash fish zsh"},
		{"nonsense |", commands},
	} {
		t.Run(row.words, func(t *testing.T) {
			words := strings.Split(strings.ReplaceAll(row.words, "|", ""), " ")
			code, out, stderr := invoke(t, Functions{}, "", append([]string{completeWord}, words...)...)
			require.Zero(t, code, stderr)
			require.Equal(t, row.want, strings.Join(strings.Fields(out), " "))
		})
	}
}

// The bash script asks the binary with the words before the cursor.
func TestBashCompletionScriptWorks(t *testing.T) {
	_, script, _ := invoke(t, Functions{}, "", "completion", "bash")
	bash := exec.Command("bash", "--norc", "-c", `toolboundary() { printf '%s ' "$@"; }
`+script+`COMP_WORDS=(toolboundary runs show --w); COMP_CWORD=3; _toolboundary
echo "${COMPREPLY[0]}"; complete -p toolboundary`)
	out, err := bash.CombinedOutput()
	require.NoError(t, err, string(out))
	require.Equal(t, "__complete runs show --w \ncomplete -o default -F _toolboundary toolboundary\n", string(out))
	for _, shell := range []string{"zsh", "fish"} {
		_, script, _ := invoke(t, Functions{}, "", "completion", shell)
		require.Contains(t, script, completeWord)
	}
}

func TestRunIDsFromALog(t *testing.T) {
	ids, err := runIDs([]string{"-"}, strings.NewReader(`{"level":"info","run_id":"r1"}
{"level":"info","msg":"listening"}
r2

not an id
{"run_id":"r1"}
{broken
`))
	require.NoError(t, err)
	require.Equal(t, []string{"r2", "r1"}, ids, "each once, the latest mention last")
	var many strings.Builder
	for i := range 3 * maxListed {
		many.WriteString("r" + strings.Repeat("x", i%7) + string(rune('a'+i%26)) + "\n")
		many.WriteString(time.Duration(i).String() + "\n")
	}
	ids, err = runIDs([]string{"-"}, strings.NewReader(many.String()))
	require.NoError(t, err)
	require.Len(t, ids, maxListed)
	_, err = runIDs([]string{"-"}, strings.NewReader("\n"))
	require.ErrorAs(t, err, &UsageError{})
}
