package sqlguard

// PrepareBare is Prepare without the recover, for tests that want to see a panic.
func (g *Guard) PrepareBare(sql string, params []Param) (*Plan, *Rejection) {
	return newWorker().prepare(g, sql, params)
}

// DriverValue is what a parameter is bound as.
func (p Param) DriverValue() any { return p.value }
