package index

import (
	"sync"
	"sync/atomic"

	"adshard/barrels/kv"
	"adshard/schema/pb"
)

// Snapshot is one state for searches: a snapshot of the data with the tables that belong to it.
// Once published it never changes, except for the marks of newer terms. It is closed when the store
// has published a newer one and the last search has released it.
type Snapshot struct {
	refs     atomic.Int64 // 1 while it is the store's newest
	Number   uint64       // one more than that of the state before
	Data     *SharedSnapshot
	Terms    *Dictionary
	Parents  *Parents
	Position *pb.Position
	Slices   *Slices // the table of slices
	Counters Counters
	Builder  uint32     // version of what built all data; MixedBuilders: of several
	Purge    []Interval // discarded, not yet empty
	closed   *sync.WaitGroup
}

// SharedSnapshot is a snapshot with the number of states that use it. A bucket that moves only the
// position keeps the snapshot for the next state, with the iterators that searches have opened.
type SharedSnapshot struct {
	kv.Snapshot
	states atomic.Int64
}

// Share returns a snapshot that is released by the last of its users.
func Share(s kv.Snapshot) *SharedSnapshot {
	shared := &SharedSnapshot{Snapshot: s}
	shared.states.Store(1)
	return shared
}

// Again returns the snapshot for one more state. The caller's own state holds
// it open meanwhile.
func (s *SharedSnapshot) Again() *SharedSnapshot {
	s.states.Add(1)
	return s
}

func (s *SharedSnapshot) release() {
	if s.states.Add(-1) == 0 {
		s.Snapshot.Close()
	}
}

// retain adds a use of the state; false: it is closed already.
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

// Release ends a use; the last one releases the data.
func (s *Snapshot) Release() {
	if s.refs.Add(-1) == 0 {
		s.Data.release()
		s.closed.Done()
	}
}

// Published hands out the newest state.
type Published struct {
	Newest   atomic.Pointer[Snapshot] // nil when the store is closed or reopening
	Unclosed sync.WaitGroup           // states not yet closed
	// Reopening is held while the store is reopened and has no state; searches wait for it.
	Reopening sync.RWMutex
}

// Acquire returns the newest state for use until its release; nil: closed.
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

// Publish makes s the newest state; nil: none any more.
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
