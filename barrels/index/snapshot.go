package index

import (
	"sync"
	"sync/atomic"

	"adshard/barrels/kv"
	"adshard/schema/pb"
)

// Snapshot is one state for searches: a snapshot of the data with the tables that belong to it.
// Once published it never changes, except for the marks of newer terms. It is closed once the store
// has published a newer one and the last search has released this one.
type Snapshot struct {
	refs     atomic.Int64 // includes 1 while it is the store's newest
	Number   uint64       // one more than the number of the state before
	Data     *SharedSnapshot
	Terms    *Dictionary
	Parents  *Parents
	Position *pb.Position
	Slices   *Slices // the table of slices
	Counters Counters
	Builder  uint32     // version of the code that built all data, or MixedBuilders if several versions did
	Purge    []Interval // intervals that were discarded and are not empty yet
	closed   *sync.WaitGroup
}

// SharedSnapshot is a snapshot with a count of the states that use it. If a bucket changes only the
// position, the next state keeps the snapshot and the iterators that searches have opened.
type SharedSnapshot struct {
	kv.Snapshot
	states atomic.Int64
}

// Share returns a snapshot that is released when the last state using it releases it.
func Share(s kv.Snapshot) *SharedSnapshot {
	shared := &SharedSnapshot{Snapshot: s}
	shared.states.Store(1)
	return shared
}

// Again returns the snapshot for one more state. The caller's own state must keep it open
// meanwhile.
func (s *SharedSnapshot) Again() *SharedSnapshot {
	s.states.Add(1)
	return s
}

func (s *SharedSnapshot) release() {
	if s.states.Add(-1) == 0 {
		s.Snapshot.Close()
	}
}

// retain adds a use of the state. It returns false if the state is already closed.
func (s *Snapshot) retain() bool {
	for {
		n := s.refs.Load()
		if n == 0 {
			return false
		}
		if s.refs.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

// Release ends a use. The last use releases the data.
func (s *Snapshot) Release() {
	if s.refs.Add(-1) == 0 {
		s.Data.release()
		s.closed.Done()
	}
}

// Published holds the newest state and gives it to searches.
type Published struct {
	Newest   atomic.Pointer[Snapshot] // nil if the store is closed or being reopened
	Unclosed sync.WaitGroup           // states not yet closed
	// Reopening is held while the store is being reopened and has no state. Searches wait for it.
	Reopening sync.RWMutex
}

// Acquire returns the newest state, which the caller must release, or nil if the store is closed.
func (p *Published) Acquire() *Snapshot {
	for {
		s := p.Newest.Load()
		if s == nil {
			p.Reopening.RLock()
			s = p.Newest.Load()
			p.Reopening.RUnlock()
		}
		if s == nil || s.retain() {
			return s
		}
	}
}

// Publish makes s the newest state. If s is nil, there is no state from then on.
func (p *Published) Publish(s *Snapshot) {
	if s != nil {
		s.closed = &p.Unclosed
		s.refs.Store(1)
		p.Unclosed.Add(1)
	}
	if old := p.Newest.Swap(s); old != nil {
		old.Release()
	}
}
