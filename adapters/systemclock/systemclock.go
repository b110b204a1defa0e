// Package systemclock is the clock of the machine.
package systemclock

import (
	"time"

	"github.com/toolboundary/toolboundary/ports"
)

// Clock tells the machine's time. The zero value is ready to use.
type Clock struct{}

var _ ports.Clock = Clock{}

// Now returns the current time.
func (Clock) Now() time.Time { return time.Now() }
