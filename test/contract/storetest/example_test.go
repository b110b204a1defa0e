package storetest_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/toolboundary/toolboundary/adapters/fake"
	"github.com/toolboundary/toolboundary/adapters/memory"
	"github.com/toolboundary/toolboundary/domain/run"
	"github.com/toolboundary/toolboundary/ports"
	"github.com/toolboundary/toolboundary/test/contract/kit"
	"github.com/toolboundary/toolboundary/test/contract/storetest"
)

// talkative is a store that says what it knows, which no store may.
type talkative struct{ ports.Store }

func (s talkative) Find(ctx context.Context, id run.ID) (run.Run, error) {
	r, err := s.Store.Find(ctx, id)
	if err != nil {
		err = errors.New("no key run:" + string(id) + " on 10.0.0.7:6379")
	}
	return r, err
}

// A store is tested with storetest.Test and storetest.Machine. Here a part of the suite looks at a
// store that is broken: these cases need nothing of the instance but its stores.
func Example() {
	subject := storetest.Subject{New: func(kit.T) storetest.Instance {
		store := talkative{memory.New(fake.NewClock(time.Unix(0, 0)))}
		return storetest.Instance{Store: store, Other: store, Unit: time.Second}
	}}
	suite := storetest.Suite()
	suite.Cases = slices.DeleteFunc(suite.Cases, func(c kit.Case[storetest.Subject]) bool {
		return !slices.Contains(c.Promises, "Runs.Find#1")
	})
	for _, name := range kit.Names(suite.Violations(context.Background(), subject)) {
		fmt.Println(name)
	}
	// Output: Find/UnknownRun
}
