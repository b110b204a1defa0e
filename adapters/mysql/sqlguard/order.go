package sqlguard

import "reflect"

// completeOrder appends to ORDER BY until what the agent may see decides the order of all rows. Otherwise the server
// would give rows, and choose those within LIMIT, in the order of whichever index it reads: over a column that is hidden
// or sensitive, that order ranks its values. See docs/adr/0016-row-order.md.
//
// What is appended, unless it is there already:
//
//   - nothing where there is one row, beside an aggregate without GROUP BY, and WITH ROLLUP, which sorts by itself
//   - with GROUP BY, what is grouped by
//   - where the policy knows a key of every table, the keys; not of a table that is joined by the whole of its key
//   - else every output column that is not sensitive: rows that are equal in all of them cannot be told apart
//
// All of it has the direction of the last item, so that one index can serve both.
func (t *translator) completeOrder() {
	s := t.stmt
	if s.rollup || len(s.group) == 0 && s.aggregates() {
		return
	}
	o := orderer{stmt: s}
	if len(s.order) > 0 {
		o.desc = s.order[len(s.order)-1].desc
	}
	for _, item := range s.order {
		o.met = append(o.met, s.meant(item.expr))
	}
	switch {
	case s.distinct, len(s.group) > 0 && !repeatable(s.group):
		o.outputs()
	case len(s.group) > 0:
		o.all(s.group)
	default:
		if keys, ok := s.keys(); ok {
			o.all(keys)
		} else {
			o.outputs()
		}
	}
}

// meant returns what an alias stands for, and any other expression as it is.
func (s *statement) meant(e expr) expr {
	if a, ok := e.(aliasRef); ok {
		return s.fields[a.field].expr
	}
	return e
}

// repeatable reports whether each expression means the same when it is written a second time: not so with a placeholder.
func repeatable(list []expr) bool {
	for _, e := range list {
		if has[marker](e) {
			return false
		}
	}
	return true
}

type orderer struct {
	stmt *statement
	desc bool
	met  []expr
}

func (o *orderer) add(e expr) {
	meant := o.stmt.meant(e)
	for _, known := range o.met {
		if reflect.TypeOf(known) == reflect.TypeOf(meant) && reflect.DeepEqual(known, meant) {
			return
		}
	}
	o.met = append(o.met, meant)
	o.stmt.order = append(o.stmt.order, orderItem{expr: e, desc: o.desc, added: true})
}

func (o *orderer) all(list []expr) {
	for _, e := range list {
		if has[columnRef](o.stmt.meant(e)) {
			o.add(e)
		}
	}
}

// outputs adds the output columns that differ from row to row and are shown.
func (o *orderer) outputs() {
	for i, f := range o.stmt.fields {
		if o.stmt.shown(f.expr) && (has[columnRef](f.expr) || has[*aggregate](f.expr)) {
			o.add(aliasRef{i})
		}
	}
}

// shown reports whether e is anything but a sensitive column.
func (s *statement) shown(e expr) bool {
	c, ok := e.(columnRef)
	return !ok || !s.sources[c.source].table.Columns[c.column].Sensitive
}

// keys returns columns that tell all rows of FROM apart, if the policy knows them.
func (s *statement) keys() (list []expr, ok bool) {
	joined := map[columnRef]bool{}
	s.from.equated(joined)
	for i, from := range s.sources {
		if len(from.table.key) == 0 {
			return nil, false
		}
		byKey := true
		var key []expr
		for _, c := range from.table.key {
			key = append(key, columnRef{i, c})
			byKey = byKey && joined[columnRef{i, c}]
		}
		if !byKey {
			list = append(list, key...)
		}
	}
	return list, true
}

func (sourceRef) equated(map[columnRef]bool) {}

// equated finds the columns of the last table of each join that its ON sets equal to a column of a table before it.
func (x *join) equated(found map[columnRef]bool) {
	x.first.equated(found)
	x.then.equated(found)
	then, single := x.then.(sourceRef)
	if !single {
		return
	}
	conditions := []expr{x.on}
	if c, ok := x.on.(*chain); ok && c.op == "AND" {
		conditions = c.args
	}
	for _, e := range conditions {
		b, ok := e.(*binary)
		if !ok || b.op != "=" {
			continue
		}
		l, one := b.l.(columnRef)
		r, other := b.r.(columnRef)
		switch {
		case !one || !other || l.source == r.source:
		case l.source == then.index:
			found[l] = true
		case r.source == then.index:
			found[r] = true
		}
	}
}
