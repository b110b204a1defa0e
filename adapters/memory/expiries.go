package memory

import (
	"container/heap"
	"time"
)

// releaseAtOnce is how many expired items one Open or Begin releases: more than the two that it
// can add, so that what has expired does not pile up.
const releaseAtOnce = 16

// expiries holds what is to be released, the earliest first.
type expiries struct{ items expiryHeap }

type expiry struct {
	at      time.Time
	release func()
}

// add has release called after at, under the store's mutex.
func (e *expiries) add(at time.Time, release func()) { heap.Push(&e.items, expiry{at, release}) }

// release frees the memory of what has expired by now, a few items at most.
func (s *Store) release(now time.Time) {
	h := &s.expiries.items
	for range releaseAtOnce {
		if h.Len() == 0 || now.Before((*h)[0].at) {
			return
		}
		heap.Pop(h).(expiry).release()
	}
}

type expiryHeap []expiry

func (h expiryHeap) Len() int           { return len(h) }
func (h expiryHeap) Less(i, j int) bool { return h[i].at.Before(h[j].at) }
func (h expiryHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *expiryHeap) Push(x any)        { *h = append(*h, x.(expiry)) }

func (h *expiryHeap) Pop() any {
	last := len(*h) - 1
	x := (*h)[last]
	(*h)[last] = expiry{}
	*h = (*h)[:last]
	return x
}
