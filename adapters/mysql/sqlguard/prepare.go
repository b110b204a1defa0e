package sqlguard

import (
	"slices"
	"unicode/utf8"

	"github.com/pingcap/tidb/pkg/parser"
)

// Plan is a statement that may run.
type Plan struct {
	SQL     string // what runs; the agent's text never does
	Asked   string // SQL with the agent's aliases in place of private names, and without what completes its order: to be read, never to run
	Args    []any  // for the placeholders of SQL and Asked in order: nil, bool, string, int64, uint64 or float64
	Columns []OutColumn
	Tables  []string // schema.table of every table read, each once, in order of appearance
	MaxRows int      // deliver at most so many rows
	Offset  uint64   // the rows that OFFSET passes over
	Probe   bool     // SQL asks for one row more than MaxRows: if it comes, the result is cut
}

// OutColumn is one column of the result.
type OutColumn struct {
	Heading   string   // as the agent would have seen it
	Sensitive bool     // redact every value, NULL too
	Sources   []string // schema.table.column of every column it is computed from, each once, in order of appearance
}

// worker is what one Prepare needs and the next one can use again.
type worker struct {
	parser  *parser.Parser
	lex     lexed
	printer printer
	met     []bool
}

func newWorker() *worker {
	p := parser.New()
	p.SetSQLMode(0)
	return &worker{parser: p}
}

// Prepare translates an agent's statement with its parameters. The error is a *Rejection. It uses CPU only, and is bounded for any input.
func (g *Guard) Prepare(sql string, params []Param) (plan *Plan, err error) {
	if len(sql) > MaxStatementBytes {
		return nil, &Rejection{ReasonLimit, "a statement may have at most 64 KiB"}
	}
	if !utf8.ValidString(sql) {
		return nil, &Rejection{ReasonSyntax, "the statement is not valid UTF-8"}
	}
	w := g.workers.Get().(*worker)
	defer func() {
		if recover() != nil { // the worker, whose parser may be anywhere, is dropped
			plan, err = nil, &Rejection{ReasonSyntax, "the statement cannot be read"}
			return
		}
		g.workers.Put(w)
	}()
	plan, rejection := w.prepare(g, sql, params)
	if rejection != nil {
		return nil, rejection
	}
	return plan, nil
}

func (w *worker) prepare(g *Guard, sql string, params []Param) (*Plan, *Rejection) {
	stmt, rejection := w.read(g, sql, params, nil, maxNesting)
	if rejection != nil {
		return nil, rejection
	}
	w.printer.print(stmt)
	if g.afterPrint != nil {
		w.printer.buf = g.afterPrint(w.printer.buf)
	}
	if len(w.printer.buf) > maxPrintedBytes {
		return nil, &Rejection{ReasonLimit, repeatsTooMuch}
	}
	text := string(w.printer.buf)
	if !w.verify(g, stmt, text) {
		return nil, &Rejection{ReasonUnsupportedNode, "the statement cannot be translated: write it more simply"}
	}
	return g.plan(stmt, text, w.printer.markers, params), nil
}

// read turns text into a statement or says why not. printed is set for a text that was printed: the
// param of each of its placeholders.
func (w *worker) read(g *Guard, sql string, params []Param, printed []int32, nesting int) (*statement, *Rejection) {
	var rep report
	w.lex.reset(sql, nesting)
	w.lex.scan(&rep)
	if rep.rank == rankLimit || rep.rank == rankComment || rep.rank == rankHintComment {
		return nil, rep.rejection()
	}
	nodes, _, err := w.parser.ParseSQL(sql)
	if err != nil {
		rep.add(rankSyntax, "%s", w.lex.syntaxDetail(err))
		return nil, rep.rejection()
	}
	w.met = append(w.met[:0], make([]bool, len(w.lex.markers))...)
	t := translator{guard: g, lex: &w.lex, params: params, rep: &rep, stmt: &statement{}, met: w.met, printed: printed, merged: map[columnRef]bool{}}
	t.translate(nodes)
	if len(params) != len(w.lex.markers) {
		rep.add(rankParamCount, "the statement has %d placeholder(s), %d parameter(s) were given", len(w.lex.markers), len(params))
	}
	return t.stmt, rep.rejection()
}

// verify reads the printed text as if an agent had sent it: it must be the same statement again,
// with the same placeholders.
func (w *worker) verify(g *Guard, stmt *statement, text string) bool {
	printed := append([]int32{}, w.printer.markers...) // not nil, also when there is none
	again, rejection := w.read(g, text, make([]Param, len(printed)), printed, maxPrintedDepth)
	return rejection == nil && equal(stmt, again)
}

func (g *Guard) plan(stmt *statement, text string, markers []int32, params []Param) *Plan {
	p := &Plan{SQL: text, Asked: asked(stmt, text), MaxRows: int(min(stmt.limit, g.maxRows)), Probe: stmt.limit > g.maxRows}
	p.Offset = stmt.offset
	p.Args = make([]any, len(markers))
	for i, m := range markers {
		p.Args[i] = params[m].value
	}
	p.Columns = make([]OutColumn, len(stmt.fields))
	for i, f := range stmt.fields {
		p.Columns[i] = OutColumn{Heading: f.heading, Sources: stmt.lineage(f.expr)}
		if c, ok := f.expr.(columnRef); ok {
			p.Columns[i].Sensitive = stmt.sources[c.source].table.Columns[c.column].Sensitive
		}
	}
	for _, s := range stmt.sources {
		if !slices.Contains(p.Tables, s.table.full) {
			p.Tables = append(p.Tables, s.table.full)
		}
	}
	return p
}

func (s *statement) lineage(e expr) []string {
	var names []string
	walk(e, func(x expr) {
		if c, ok := x.(columnRef); ok {
			if name := s.sources[c.source].table.fullColumns[c.column]; !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	})
	return names
}
