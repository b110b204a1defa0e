package cell_test

import (
	"fmt"

	"github.com/toolboundary/toolboundary/ports/cell"
)

func ExampleAppend() {
	short, cut := cell.Append(nil, "é", 30)
	fmt.Println(string(short), cut)
	long, cut := cell.Append(nil, "a text of more than thirty bytes in JSON", 30)
	fmt.Println(string(long), len(long), cut)
	// Output:
	// "é" false
	// "a text of …[cut, 40 bytes]" 30 true
}

func ExampleMarshal() {
	text, err := cell.Marshal(map[string]string{"query": "up > 0"})
	fmt.Println(string(text), err)
	// Output: {"query":"up > 0"} <nil>
}
