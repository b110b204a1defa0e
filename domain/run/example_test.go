package run_test

import (
	"fmt"

	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/domain/run"
)

// A call spends from the budget; one that does not fit is refused and spends nothing.
func ExampleRun_Spend() {
	r := run.Run{State: run.Active, Budget: run.Budget{MaxCalls: 2, MaxBytes: 1000}}
	for range 3 {
		next, err := r.Spend("mysql_query", 100)
		if err != nil {
			fmt.Println(fault.CodeOf(err))
			continue
		}
		r = next
		fmt.Println(r.Usage.Calls, "calls,", r.Usage.Bytes, "bytes")
	}
	fmt.Println(r.Usage.Calls, "calls,", r.Usage.Bytes, "bytes")
	// Output:
	// 1 calls, 100 bytes
	// 2 calls, 200 bytes
	// RUN_BUDGET_EXHAUSTED
	// 2 calls, 200 bytes
}

// A run ends once. Ending it the same way again changes nothing.
func ExampleRun_End() {
	r := run.Run{State: run.Active}
	r, err := r.End(run.Completed)
	fmt.Println(r.State, err)
	r, err = r.End(run.Completed)
	fmt.Println(r.State, err)
	r, err = r.End(run.Cancelled)
	fmt.Println(r.State, fault.CodeOf(err))
	// Output:
	// COMPLETED <nil>
	// COMPLETED <nil>
	// COMPLETED RUN_INACTIVE
}
