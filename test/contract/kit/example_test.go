package kit_test

import (
	"context"
	"fmt"

	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/test/contract/kit"
)

// A port, and the suite that every adapter of it must pass.
type Counter interface {
	// Add counts one more.
	//  - MUST return how often it was called.
	Add() int
}

var counters = kit.Suite[Counter]{Cases: []kit.Case[Counter]{
	{Name: "Add/CountsUp", Rule: "Add returns how often it was called.", Promises: []string{"Counter.Add#1"},
		Body: func(t kit.T, subject Counter) {
			require.Equal(t, 1, subject.Add())
			require.Equal(t, 2, subject.Add())
		}},
}}

// stuck is an adapter that breaks the promise.
type stuck struct{}

func (stuck) Add() int { return 1 }

// An adapter is tested with Suite.Test. Violations is how a suite is tested itself: with adapters
// that are broken on purpose.
func ExampleSuite_Violations() {
	for name := range counters.Violations(context.Background(), stuck{}) {
		fmt.Println(name)
	}
	// Output: Add/CountsUp
}
