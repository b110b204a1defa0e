package rowset_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/toolboundary/toolboundary/ports/rowset"
)

// An executor writes what was asked, the columns, and each row as it arrives.
func ExampleWriter() {
	w, err := rowset.NewWriter(1<<20, rowset.Head{
		Asked: &rowset.Asked{
			DataSource: "shop", Statement: "SELECT id FROM t WHERE id < ? LIMIT 2",
			Params: []json.RawMessage{[]byte(`9`)},
		},
		Columns: []rowset.Column{{Name: "id", Type: "INT"}},
	})
	if err != nil {
		fmt.Println(err) // RESULT_TOO_LARGE
		return
	}
	for _, row := range []string{`[1]`, `[2]`} {
		if err := w.Row([]byte(row)); err != nil {
			fmt.Println(err)
			return
		}
	}
	raw, err := w.Close(true)
	for _, member := range strings.SplitAfter(string(raw), `},`) {
		fmt.Println(member)
	}
	fmt.Println(err)
	// Output:
	// {"asked":{"data_source":"shop","statement":"SELECT id FROM t WHERE id < ? LIMIT 2","params":[9]},
	// "columns":[{"name":"id","type":"INT"}],"rows":[[1],[2]],"more":true}
	// <nil>
}

// A projector reads the head first and then row by row, and stops when it has enough.
func ExampleReader() {
	r, err := rowset.NewReader([]byte(`{"columns":[{"name":"id"},{"name":"name"}],"rows":[[1,"Ada"],[2,null]],"more":false}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(r.Columns[0].Name, r.Columns[1].Name)
	for {
		cells, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(string(cells[0]), string(cells[1]))
	}
	fmt.Println("more:", r.More())
	// Output:
	// id name
	// 1 "Ada"
	// 2 null
	// more: false
}
