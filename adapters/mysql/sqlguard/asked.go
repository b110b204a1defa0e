package sqlguard

// asked returns the statement as people and agents read it: as it was printed, with the agent's
// aliases of tables and columns in place of private names, and without what completeOrder appended.
// No other text of the agent is in it, so its comments are not. It never runs.
func asked(s *statement, printed string) string {
	p := printer{agents: true}
	p.print(s)
	if len(p.buf) > maxPrintedBytes { // long aliases that are used often
		return printed
	}
	return string(p.buf)
}

// field writes the name of an output column.
func (p *printer) field(i int) {
	if p.agents {
		p.text(quoteName(p.stmt.fields[i].alias))
		return
	}
	p.private("`_o", i)
}

// asField writes AS and the name of an output column. The agent's text has one only where there is
// an alias, and refers to no other.
func (p *printer) asField(i int) {
	if p.agents && p.stmt.fields[i].alias == "" {
		return
	}
	p.text(" AS ")
	p.field(i)
}

// source writes what qualifies the columns of a table.
func (p *printer) source(i int) {
	if !p.agents {
		p.private("`_t", i)
		return
	}
	s := p.stmt.sources[i]
	for j, other := range p.stmt.sources {
		if j != i && other.name == s.name { // tables of two schemas, neither with an alias
			p.text(s.table.quoted)
			return
		}
	}
	p.text(quoteName(s.name))
}

// asSource writes AS and the alias of a table, if it has one.
func (p *printer) asSource(i int) {
	if p.agents && !p.stmt.sources[i].alias {
		return
	}
	p.text(" AS ")
	p.source(i)
}
