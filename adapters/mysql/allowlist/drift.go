package allowlist

import (
	"cmp"
	"context"
	"regexp"
	"slices"
	"strings"
)

// Kind is a class of drift. The strings are stable.
type Kind string

// The classes of drift.
const (
	SchemaGone  Kind = "SCHEMA_GONE"
	TableGone   Kind = "TABLE_GONE"
	TableCase   Kind = "TABLE_CASE"
	ColumnGone  Kind = "COLUMN_GONE"
	ColumnCase  Kind = "COLUMN_CASE"
	NewColumn   Kind = "NEW_COLUMN"
	BecameView  Kind = "VIEW"
	BecameTable Kind = "NOT_A_VIEW"
	TypeChanged Kind = "TYPE"
	LeftOutGone Kind = "LEFT_OUT_GONE"
	Unreadable  Kind = "UNREADABLE"
)

// Drift is one difference between an allowlist and its database.
type Drift struct {
	Kind Kind `json:"kind"`
	// Where names the schema, table or column, as the allowlist has it when it does.
	Where   string `json:"where"`
	Message string `json:"message"`
	Fix     string `json:"fix"`
}

// Broken reports whether queries on what is named fail.
func (d Drift) Broken() bool { return missing(d.Kind) || d.Kind == Unreadable }

// Report is what Check found.
type Report struct {
	Drifts []Drift `json:"drifts"`
	// Tables is how many allowlisted tables were compared, Unlisted how many others the account
	// sees in the same schemas; they are no drift, because agents cannot read them.
	Tables   int `json:"tables"`
	Unlisted int `json:"unlisted_tables"`
	// Restricted tells that the account was granted single columns, so that new columns are
	// hidden from it.
	Restricted bool `json:"restricted_account"`
}

// Check compares the allowlist with what the account sees, and reads no row of any table.
func Check(ctx context.Context, db Database, listed Listed) (Report, error) {
	relations, err := Read(ctx, db)
	if err != nil {
		return Report{}, err
	}
	r := Compare(listed, relations)
	if r.Restricted = restricted(ctx, db); r.Restricted {
		// What is left out is not granted, so it is hidden.
		r.Drifts = slices.DeleteFunc(r.Drifts, func(d Drift) bool { return d.Kind == LeftOutGone })
	}
	for _, t := range listed.Tables {
		if err := ctx.Err(); err != nil {
			return r, err
		}
		broken := func(d Drift) bool { return d.Broken() && strings.HasPrefix(d.Where+".", t.full()+".") }
		if slices.ContainsFunc(r.Drifts, broken) {
			continue // it cannot be read, which is reported already
		}
		if err := db.Query(ctx, t.probe(), func([]string) error { return nil }); err != nil {
			r.Drifts = append(r.Drifts, Drift{
				Unreadable, t.full(), "The account cannot read the listed columns, or the view behind the name is " +
					"broken.",
				"Run what allowlist grants prints, or fix the view.",
			})
		}
	}
	return r, nil
}

// restricted reports whether the account was granted single columns; when the server does not
// say, it was not.
func restricted(ctx context.Context, db Database) bool {
	// CURRENT_USER() is user@host, and a grantee 'user'@'host'; both parts may hold an @.
	const host = "SUBSTRING_INDEX(CURRENT_USER(), '@', -1)"
	const user = "LEFT(CURRENT_USER(), CHAR_LENGTH(CURRENT_USER()) - CHAR_LENGTH(" + host + ") - 1)"
	found := false
	err := db.Query(ctx, "SELECT GRANTEE FROM information_schema.COLUMN_PRIVILEGES "+
		"WHERE GRANTEE = CONCAT('''', "+user+", '''@''', "+host+", '''') LIMIT 1", func([]string) error {
		found = true
		return nil
	})
	return err == nil && found
}

func missing(k Kind) bool {
	return k == SchemaGone || k == TableGone || k == TableCase || k == ColumnGone
}

// Compare finds the differences, ordered as the allowlist is.
func Compare(listed Listed, relations []Relation) Report {
	c := comparison{byName: map[string]*Relation{}, schemas: map[string]bool{}}
	for i, r := range relations {
		c.byName[r.Schema+"."+r.Name] = &relations[i]
		c.schemas[r.Schema] = true
	}
	c.relations = relations
	ours := map[string]bool{}
	for _, t := range listed.Tables {
		c.table(t)
		ours[t.Schema] = true
	}
	if s := listed.DefaultSchema; s != "" && !c.schemas[s] && !ours[s] {
		c.add(SchemaGone, s, "The default schema does not exist, or the account may see nothing in it.",
			"Correct default_schema.")
	}
	report := Report{Drifts: c.drifts, Tables: len(listed.Tables)}
	for _, r := range relations {
		same := func(t ListedTable) bool { return t.Schema == r.Schema && t.Name == r.Name }
		if ours[r.Schema] && !slices.ContainsFunc(listed.Tables, same) {
			report.Unlisted++
		}
	}
	return report
}

type comparison struct {
	relations []Relation
	byName    map[string]*Relation
	schemas   map[string]bool
	drifts    []Drift
}

func (c *comparison) add(kind Kind, where, message, fix string) {
	c.drifts = append(c.drifts, Drift{kind, where, message, fix})
}

func (t ListedTable) full() string { return t.Schema + "." + t.Name }

// probe is a statement that reads the listed columns and no row.
func (t ListedTable) probe() string {
	names := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		names[i] = quote(c.Name)
	}
	return "SELECT " + strings.Join(names, ", ") + " FROM " + quote(t.Schema) + "." + quote(t.Name) + " LIMIT 0"
}

func quote(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }

func (c *comparison) table(t ListedTable) {
	r := c.byName[t.full()]
	if r == nil {
		c.absent(t)
		return
	}
	switch {
	case r.View && !t.View:
		c.add(BecameView, t.full(), "This is a view, which reads with its definer's rights.",
			"List it below views if that is intended, or remove it from allow.")
	case !r.View && t.View:
		c.add(BecameTable, t.full(), "This is a table, but it is listed below views.", "Remove it from views.")
	}
	if r.View && len(r.Columns) == 0 {
		c.add(Unreadable, t.full(), "The view is broken: what it reads is gone, or its definer may not read it.",
			"Fix the view, or remove it from allow.")
		return
	}
	known := map[string]bool{}
	for _, listed := range t.Columns {
		known[fold(listed.Name)] = true
		c.column(t, r, listed)
	}
	for _, name := range t.LeftOut {
		known[fold(name)] = true
		if !slices.ContainsFunc(r.Columns, func(have Column) bool { return fold(have.Name) == fold(name) }) {
			c.add(LeftOutGone, t.full()+"."+name, "The column is left out, and does not exist or is hidden from the account.",
				"Remove it from left_out if it is gone.")
		}
	}
	for _, have := range r.Columns {
		if !known[fold(have.Name)] {
			c.unknown(t, have)
		}
	}
}

// unknown reports a column that the allowlist does not name.
func (c *comparison) unknown(t ListedTable, have Column) {
	fix := "Add it to allow, or to left_out."
	if why := sensitive(have); why != "" {
		fix = "It looks like " + why + ": add it to left_out, or to allow with sensitive: true."
	}
	c.add(NewColumn, t.full()+"."+have.Name, "The column is neither in allow nor in left_out.", fix)
}

func (c *comparison) absent(t ListedTable) {
	for _, r := range c.relations {
		if fold(r.Schema) == fold(t.Schema) && fold(r.Name) == fold(t.Name) {
			c.add(TableCase, t.full(), "The database spells it "+r.Schema+"."+r.Name+"; the allowlist is exact.",
				"Write it as the database does.")
			return
		}
	}
	if !c.schemas[t.Schema] {
		c.add(SchemaGone, t.full(), "The schema does not exist, or the account may see nothing in it.",
			"Remove its tables from allow, or grant them.")
		return
	}
	c.add(TableGone, t.full(), "The table does not exist, or the account may not see it.", "Remove it from allow, or grant it.")
}

func (c *comparison) column(t ListedTable, r *Relation, listed ListedColumn) {
	where := t.full() + "." + listed.Name
	i := slices.IndexFunc(r.Columns, func(have Column) bool { return have.Name == listed.Name })
	if i < 0 {
		i = slices.IndexFunc(r.Columns, func(have Column) bool { return fold(have.Name) == fold(listed.Name) })
		if i < 0 {
			c.add(ColumnGone, where, "The column does not exist, or the account may not see it: queries that use it fail.",
				"Remove it from allow, or grant it.")
			return
		}
		c.add(ColumnCase, where, "The database spells it "+r.Columns[i].Name+"; agents are shown the allowlist's spelling.",
			"Write it as the database does.")
	}
	have := r.Columns[i].Type
	if listed.Type != "" && normal(listed.Type) != normal(shown(have)) {
		c.add(TypeChanged, where, "The type is "+shown(have)+", and the allowlist says "+listed.Type+".",
			"Look at what the column holds now, then correct the type.")
	}
}

var width = regexp.MustCompile(`\b((?:tiny|small|medium|big)?int|year)\([0-9]+\)`)

// normal makes types comparable across products: MariaDB writes display widths, MySQL 8 does not.
func normal(text string) string {
	text = width.ReplaceAllString(strings.ToLower(strings.Join(strings.Fields(text), " ")), "$1")
	other := map[string]string{
		"integer": "int", "integer unsigned": "int unsigned", "boolean": "tinyint", "bool": "tinyint",
	}
	return cmp.Or(other[text], text)
}
