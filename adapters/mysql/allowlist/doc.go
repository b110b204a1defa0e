// Package allowlist works on a data source's allowlist and the database it is about: it drafts
// one from the schema, finds where the two have drifted apart, and prints the grants with which
// the database itself enforces it.
//
// It reads the information schema only, over a session that is read only, and writes nothing.
// What it drafts is cautious: columns whose names look sensitive, tables whose names do, and
// views stay off until somebody turns them on.
package allowlist

import (
	"context"
	"slices"
	"strings"
)

// Database answers statements of the operator; *operator.Database does.
type Database interface {
	// Query hands over the rows as text, NULL as "".
	Query(ctx context.Context, sql string, row func([]string) error) error
}

// Relation is a table or a view as the database has it.
type Relation struct {
	Schema, Name string
	View         bool
	// Rows is the server's estimate, as it says it; empty when it says nothing.
	Rows, Comment string
	Columns       []Column
}

// Column is a column as the database has it.
type Column struct {
	Name, Type, Comment string
	// Key is set for the columns of the primary key.
	Key bool
}

// Listed is the allowlist of a data source.
type Listed struct {
	DefaultSchema string
	Tables        []ListedTable
}

// ListedTable is a table of the allowlist.
type ListedTable struct {
	Schema, Name string
	// View says that the operator knows it to be a view.
	View    bool
	Columns []ListedColumn
	// LeftOut are columns that are known and not readable.
	LeftOut []string
}

// ListedColumn is a readable column; Type may be empty.
type ListedColumn struct{ Name, Type string }

const systemSchemas = "'information_schema', 'mysql', 'performance_schema', 'sys'"

// Read returns the relations that the account can see in the schemas, or in all but the
// server's own when none is named, ordered by schema and name.
func Read(ctx context.Context, db Database, schemas ...string) ([]Relation, error) {
	var found []Relation
	at := map[[2]string]int{}
	err := db.Query(ctx, "SELECT TABLE_SCHEMA, TABLE_NAME, TABLE_TYPE, TABLE_ROWS, TABLE_COMMENT "+
		"FROM information_schema.TABLES WHERE TABLE_SCHEMA NOT IN ("+systemSchemas+")", func(r []string) error {
		if r[2] == "SEQUENCE" || len(schemas) > 0 && !slices.Contains(schemas, r[0]) {
			return nil
		}
		one := Relation{Schema: r[0], Name: r[1], View: strings.Contains(r[2], "VIEW"), Rows: r[3], Comment: r[4]}
		if one.View {
			one.Comment, one.Rows = "", "" // of a view they are the server's, not its author's
		}
		at[[2]string{r[0], r[1]}] = len(found)
		found = append(found, one)
		return nil
	})
	if err != nil {
		return nil, err
	}
	err = db.Query(ctx, "SELECT TABLE_SCHEMA, TABLE_NAME, COLUMN_NAME, COLUMN_TYPE, COLUMN_COMMENT, COLUMN_KEY "+
		"FROM information_schema.COLUMNS WHERE TABLE_SCHEMA NOT IN ("+systemSchemas+") "+
		"ORDER BY TABLE_SCHEMA, TABLE_NAME, ORDINAL_POSITION", func(r []string) error {
		if i, ok := at[[2]string{r[0], r[1]}]; ok {
			found[i].Columns = append(found[i].Columns,
				Column{Name: r[2], Type: r[3], Comment: r[4], Key: r[5] == "PRI"})
		}
		return nil
	})
	slices.SortFunc(found, func(a, b Relation) int {
		return strings.Compare(a.Schema+"\x00"+a.Name, b.Schema+"\x00"+b.Name)
	})
	return found, err
}

// fold maps ASCII capitals to small letters: column names that fold alike are the same.
func fold(name string) string {
	return strings.Map(func(c rune) rune {
		if 'A' <= c && c <= 'Z' {
			return c + ('a' - 'A')
		}
		return c
	}, name)
}
