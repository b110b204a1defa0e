package sqloracle

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/adapters/mysql/sqlguard"
	"github.com/toolboundary/toolboundary/adapters/mysql/sqlguard/sqlgen"
	"github.com/toolboundary/toolboundary/test/servers"
)

// Errors of the server with which an original may fail although what the guard printed runs: an
// alias of an aggregate inside an expression of ORDER BY, and names that only private aliases tell
// apart.
const (
	errAmbiguous        = 1052
	errAliasOfAggregate = 1247
	errMisplacedSum     = 1111
	errNoUTF8MB3        = 1300 // an alias of the agent's that is no name in UTF-8 of three bytes
	errOutOfRange       = 1690
	errAccessDenied     = 1142
	errColumnDenied     = 1143
	errRoutineDenied    = 1370
)

// order says how much of the rows is the statement's and not the server's choice.
type order uint8

const (
	unordered order = iota
	ordered
	counted // only how many they are
	anyRows // not even that: what DISTINCT or HAVING drops depends on a value that the server may choose
)

// finding is what trying one statement gave.
type finding struct {
	rejection *sqlguard.Rejection
	original  error
	executed  error
	rows      int
	problem   string
}

// try judges a statement and, when it is accepted, compares what the servers make of it. args are
// the parameters of the original.
func (o *oracle) try(t *testing.T, text string, raw []json.RawMessage, args []any, how order) finding {
	params, err := sqlguard.ParamsFromJSON(raw)
	var plan *sqlguard.Plan
	if err == nil {
		plan, err = o.guard.Prepare(text, params)
	}
	var f finding
	if err != nil {
		require.True(t, errors.As(err, &f.rejection))
		return f
	}
	var want, got []string
	want, f.original = rows(t.Context(), o.pared, withoutArrows(text), args)
	got, f.executed = rows(t.Context(), o.least, plan.SQL, plan.Args)
	f.rows = len(got)
	if n := number(f.executed); n == errAccessDenied || n == errColumnDenied || n == errRoutineDenied {
		f.problem = "LEAK: the account with grants on the allowlist: " + f.executed.Error()
		return f
	}
	f.problem = o.compare(text, f, want, got, how)
	if f.problem != "" {
		f.problem += "\n\tprinted  " + plan.SQL
	}
	return f
}

func (o *oracle) compare(text string, f finding, want, got []string, how order) string {
	switch {
	case f.original == nil && number(f.executed) == errOutOfRange:
		return "" // to order by values is to compute them, in another order and for rows that the original does not choose
	case strings.Contains(text, "ROLLUP") && f.executed == nil && f.original == nil:
		return "" // MariaDB's total shows the last group's name, and not NULL, where an alias carries a grouped column's name
	case f.original == nil && f.executed != nil:
		return "the printed statement fails: " + f.executed.Error()
	case f.original != nil && f.executed == nil:
		if strings.Contains(f.original.Error(), "illegal decimals") { // FROM_UNIXTIME of a text, which the guard rounds
			return ""
		}
		if n := number(f.original); n != errAliasOfAggregate && n != errAmbiguous && n != errMisplacedSum &&
			n != errNoUTF8MB3 {
			return "only the original fails: " + f.original.Error()
		}
		return ""
	case f.original != nil:
		if number(f.original) != number(f.executed) && number(f.original) != errAliasOfAggregate {
			return fmt.Sprintf("both fail, not alike: %v / %v", f.original, f.executed)
		}
		return ""
	}
	return difference(want, got, how)
}

// difference compares rows, their order too where it is the statement's and not the server's.
func difference(want, got []string, how order) string {
	switch how {
	case anyRows:
		return ""
	case counted:
		want, got = make([]string, len(want)), make([]string, len(got))
	case unordered:
		want, got = slices.Sorted(slices.Values(want)), slices.Sorted(slices.Values(got))
	}
	for i := range max(len(want), len(got)) {
		if i >= len(want) || i >= len(got) || want[i] != got[i] {
			return fmt.Sprintf("rows differ: %d and %d; row %d is %.300s and %.300s",
				len(want), len(got), i, at(want, i), at(got, i))
		}
	}
	return ""
}

func at(rows []string, i int) string {
	if i < len(rows) {
		return rows[i]
	}
	return "none"
}

func number(err error) int {
	var e *mysql.MySQLError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &e):
		return int(e.Number)
	}
	return -1
}

// arguments binds JSON values for the original without the guard's own code.
func arguments(t *testing.T, raw []json.RawMessage) []any {
	t.Helper()
	args := make([]any, len(raw))
	for i, r := range raw {
		d := json.NewDecoder(bytes.NewReader(r))
		d.UseNumber()
		require.NoError(t, d.Decode(&args[i]))
		if n, ok := args[i].(json.Number); ok {
			if whole, err := strconv.ParseInt(n.String(), 10, 64); err == nil {
				args[i] = whole
			} else {
				args[i], err = n.Float64()
				require.NoError(t, err)
			}
		}
	}
	return args
}

// Truth from the database, S33 S40 S42: see the package comment.
func TestOracleS33S40(t *testing.T) {
	o := newOracle(t)
	o.provesDenials(t)
	for _, name := range []string{"handed.jsonl", "handed-2.jsonl", "cases.jsonl", "oncall.jsonl", "oncall-2.jsonl", "catalogue.jsonl"} {
		t.Run(name, func(t *testing.T) { o.file(t, name) })
	}
	o.byteOrder(t)
	t.Run("Generated", o.generated)
}

// provesDenials makes sure that a leak would be seen: the account is refused what is not allowlisted.
func (o *oracle) provesDenials(t *testing.T) {
	for text, want := range map[string]int{
		"SELECT ssn FROM customers":                       errColumnDenied,
		"SELECT id FROM customers WHERE ssn = 1":          errColumnDenied,
		"SELECT COUNT(*) FROM secrets":                    errAccessDenied,
		"SELECT id FROM customers ORDER BY password_hash": errColumnDenied,
		"SELECT shop.lower('api_key')":                    errRoutineDenied,
	} {
		_, err := rows(t.Context(), o.least, text, nil)
		require.Equal(t, want, number(err), "%s: %v", text, err)
	}
}

// file tries every statement of a corpus file. Those that the file calls accepted must run and give
// rows alike; others are tried when accepted.
func (o *oracle) file(t *testing.T, name string) {
	content, err := os.ReadFile(data + name)
	require.NoError(t, err)
	lines := bufio.NewScanner(bytes.NewReader(content))
	lines.Buffer(nil, 8<<20)
	accepted := 0
	for lines.Scan() {
		var e struct {
			ID, SQL, Verdict, Why string
			Params                []json.RawMessage
		}
		require.NoError(t, json.Unmarshal(lines.Bytes(), &e))
		how := unordered
		// Which rows are left is the server's choice, not so in what is printed; H0481 orders by a constant.
		if unorderedConcat.MatchString(e.SQL) {
			how = counted // in which order is the server's choice
		}
		if limited.MatchString(e.SQL) && (!strings.Contains(e.SQL, "ORDER BY") || e.ID == "H0481") {
			how = counted
		}
		f := o.try(t, e.SQL, e.Params, arguments(t, e.Params), how)
		if f.rejection != nil {
			require.NotEqual(t, "accept", e.Verdict, "%s: %v", e.ID, f.rejection)
			continue
		}
		accepted++
		if f.problem == "" && e.Verdict == "accept" && f.original != nil &&
			!slices.Contains([]int{errAliasOfAggregate, errNoUTF8MB3, errOutOfRange, -1}, number(f.original)) {
			f.problem = "the original fails: " + f.original.Error()
		}
		if f.problem != "" {
			t.Errorf("%s: %s\n\toriginal %.600s", e.ID, f.problem, e.SQL)
		}
	}
	require.NoError(t, lines.Err())
	t.Logf("%d statements accepted and run", accepted)
}

// withoutArrows writes -> and ->>, which MariaDB does not have, as the functions that they stand for on MySQL.
func withoutArrows(text string) string {
	text = regexp.MustCompile("([A-Za-z_.`]+)\\s*->>\\s*('[^']*')").ReplaceAllString(text, "JSON_UNQUOTE(JSON_EXTRACT($1, $2))")
	return regexp.MustCompile("([A-Za-z_.`]+)\\s*->\\s*('[^']*')").ReplaceAllString(text, "JSON_EXTRACT($1, $2)")
}

var unorderedConcat = regexp.MustCompile(`GROUP_CONCAT\([^)]*\)`)

var limited = regexp.MustCompile(`\b(?:LIMIT|FETCH)\b`)

// byteOrder makes texts equal only when they are the same: which of 'paid' and 'PAID' a group shows
// would be the server's choice.
func (o *oracle) byteOrder(t *testing.T) {
	for _, s := range []*servers.MySQL{o.paredServer, o.fullServer} {
		for _, table := range policy().Tables {
			name := "`" + table.Schema + "`.`" + table.Name + "`"
			s.Load(t, "ALTER TABLE "+name+" CONVERT TO CHARACTER SET utf8mb4 COLLATE utf8mb4_bin; "+
				"ANALYZE TABLE "+name+" PERSISTENT FOR ALL;")
		}
	}
}

// generated tries generated statements, on several pairs of sessions at once; which statements
// those are does not depend on how many.
func (o *oracle) generated(t *testing.T) {
	statements, seed := setting(t, "TOOLBOUNDARY_FUZZ_STATEMENTS", 3000), setting(t, "TOOLBOUNDARY_FUZZ_SEED", 7)
	const shards = 4
	tallies := make([]tally, shards)
	var wait sync.WaitGroup
	for i := range shards {
		tallies[i].counts = map[string]int{}
		pair := o.another(t)
		wait.Go(func() {
			gen := sqlgen.New(uint64(seed*shards+i), sqlgen.Shop())
			for range statements / shards {
				tallies[i].add(pair.generatedOne(t, gen.Next()))
			}
		})
	}
	wait.Wait()
	all := tally{counts: map[string]int{}}
	for _, one := range tallies {
		for k, n := range one.counts {
			all.counts[k] += n
		}
		all.problems = append(all.problems, one.problems...)
	}
	for _, k := range slices.Sorted(maps.Keys(all.counts)) {
		t.Logf("%-30s %d", k, all.counts[k])
	}
	t.Logf("%d statements from seed %d, %d problems", statements, seed, len(all.problems))
	for _, p := range all.problems[:min(len(all.problems), 20)] {
		t.Error(p)
	}
	require.Greater(t, all.counts["plain with rows"], statements/10)
}

type tally struct {
	counts   map[string]int
	problems []string
}

func (y *tally) add(what, problem string) {
	y.counts[what]++
	if problem != "" {
		y.problems = append(y.problems, problem)
	}
}

func (o *oracle) generatedOne(t *testing.T, s sqlgen.Statement) (what, problem string) {
	raw := make([]json.RawMessage, len(s.Params))
	for i, p := range s.Params {
		text, err := json.Marshal(p)
		if err != nil {
			return "broken", err.Error()
		}
		raw[i] = text
	}
	how := unordered
	switch {
	case s.Unstable && (strings.Contains(s.SQL, "DISTINCT") || strings.Contains(s.SQL, "HAVING")):
		how = anyRows
	case s.Unstable:
		how = counted
	case s.Ordered:
		how = ordered
	}
	f := o.try(t, s.SQL, raw, arguments(t, raw), how)
	kind := [...]string{"plain", "loose", "neighbour"}[s.Kind]
	if f.problem != "" {
		problem = fmt.Sprintf("%s: %s\n\toriginal %s\n\tparams   %v", kind, f.problem, s.SQL, s.Params)
	}
	switch {
	case f.rejection != nil:
		return kind + " refused", problem
	case f.original != nil || f.executed != nil:
		return kind + fmt.Sprintf(" error %d/%d", number(f.original), number(f.executed)), problem
	case f.rows > 0:
		return kind + " with rows", problem
	}
	return kind + " empty", problem
}

func setting(t *testing.T, name string, otherwise int) int {
	t.Helper()
	text := strings.TrimSpace(os.Getenv(name))
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	require.NoError(t, err, name)
	return n
}
