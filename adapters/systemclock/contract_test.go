package systemclock_test

import (
	"testing"
	"time"

	"github.com/toolboundary/toolboundary/adapters/systemclock"
	"github.com/toolboundary/toolboundary/test/contract/clocktest"
	"github.com/toolboundary/toolboundary/test/contract/kit"
)

func TestContract(t *testing.T) {
	clocktest.Test(t, clocktest.Subject{New: func(kit.T) clocktest.Instance {
		return clocktest.Instance{Clock: systemclock.Clock{}, Unit: time.Millisecond, Advance: time.Sleep}
	}})
}
