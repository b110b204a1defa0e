package sqlguard

// PrepareBare is Prepare without the recover, for tests that want to see a panic.
func (g *Guard) PrepareBare(sql string, params []Param) (*Plan, *Rejection) {
	return newWorker().prepare(g, sql, params)
}

// DriverValue is what a parameter is bound as.
func (p Param) DriverValue() any { return p.value }

// Verifies prints sql and reports whether the self-check takes text for the printed statement.
func (g *Guard) Verifies(sql, text string, params []Param) bool {
	w := newWorker()
	stmt, rejection := w.read(g, sql, params, nil, maxNesting)
	if rejection != nil {
		return false
	}
	w.printer.print(stmt)
	return w.verify(g, stmt, text)
}

// AfterPrint has every printed text changed before it is verified.
func (g *Guard) AfterPrint(change func(printed []byte) []byte) { g.afterPrint = change }
