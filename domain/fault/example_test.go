package fault_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/toolboundary/toolboundary/domain/fault"
)

// A fault shows its code and a fixed sentence. The cause is there for logs and errors.Is only.
func Example() {
	broken := errors.New("dial tcp 10.0.0.7:3306: connection refused")
	err := fmt.Errorf("read orders: %w", fault.Wrap(fault.DataSourceUnavailable, broken))

	f := fault.Of(err)
	fmt.Println(f)
	fmt.Println(f.Code, f.Code.Again())
	fmt.Println(errors.Is(err, broken))
	// Output:
	// DATA_SOURCE_UNAVAILABLE: The data source cannot be reached right now.
	// DATA_SOURCE_UNAVAILABLE true
	// true
}

// A tool refuses a request with a reason, and a detail in the caller's own words.
func ExampleBecause() {
	err := fault.Because(fault.QueryRejected, "UNKNOWN_COLUMN", "orders.totl is not available; orders has id, total")
	fmt.Println(err.Code, err.Reason)
	fmt.Println(err.Detail)
	// Output:
	// QUERY_REJECTED UNKNOWN_COLUMN
	// orders.totl is not available; orders has id, total
}

// Any error has a code: the context's errors have theirs, and what is not known is INTERNAL.
func ExampleCodeOf() {
	fmt.Println(fault.CodeOf(context.DeadlineExceeded))
	fmt.Println(fault.CodeOf(context.Canceled))
	fmt.Println(fault.CodeOf(errors.New("something else")))
	fmt.Println(fault.CodeOf(nil) == "")
	// Output:
	// EXECUTION_TIMEOUT
	// EXECUTION_CANCELLED
	// INTERNAL
	// true
}
