package ports

import "time"

// Clock tells the time of this process. Deadlines and expiries are judged by the store's
// clock instead.
type Clock interface {
	// Now returns the current time, in any location.
	//  - MUST NOT return a time before one that it has returned already;
	//  - MUST be later by at least d once d has passed;
	//  - MUST be safe for concurrent use.
	Now() time.Time
}
