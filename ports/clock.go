package ports

import "time"

// Clock tells the time of this process. Deadlines and expiries are judged by the store's
// clock instead.
type Clock interface {
	// Now returns the current time.
	Now() time.Time
}
