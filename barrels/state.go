package barrels

import (
	"sync"
	"sync/atomic"

	"adshard/barrels/kv"
	"adshard/schema/pb"
)

// state is what searches see: one snapshot of the data with the tables that
// belong to it. It never changes once published, but for the marks of newer
// terms. It is closed when the store has moved on and the last search has let
// it go.
type state struct {
	refs     atomic.Int64 // 1 while it is the store's newest
	number   uint64       // one more than that of the state before
	snapshot *sharedSnapshot
	terms    *termTable
	parents  *parents
	position *pb.Position
	views    *views // the table of slices
	counters counters
	builder  uint32 // version of what built all data; mixedBuilders: of several
	purge    []run  // discarded, and still to be emptied
	closed   *sync.WaitGroup
}

// sharedSnapshot is a snapshot with the number of states that use it: a bucket
// that only moves the position leaves the next state the snapshot, with the
// iterators that searches have opened on it.
type sharedSnapshot struct {
	kv.Snapshot
	states atomic.Int64
}

func share(s kv.Snapshot) *sharedSnapshot {
	shared := &sharedSnapshot{Snapshot: s}
	shared.states.Store(1)
	return shared
}

// again returns the snapshot for one more state. The caller's own state holds
// it open meanwhile.
func (s *sharedSnapshot) again() *sharedSnapshot {
	s.states.Add(1)
	return s
}

func (s *sharedSnapshot) release() {
	if s.states.Add(-1) == 0 {
		s.Snapshot.Close()
	}
}

// retain takes part in the state's use; false: it is closed already.
func (s *state) retain() bool {
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

func (s *state) release() {
	if s.refs.Add(-1) == 0 {
		s.snapshot.release()
		s.closed.Done()
	}
}

// published hands out the newest state.
type published struct {
	newest atomic.Pointer[state] // nil when the store is closed or reopening
	open   sync.WaitGroup        // states not yet closed
	// reopening is held while there is no state for a short time; searches wait
	// for it.
	reopening sync.RWMutex
}

// acquire returns the newest state for use until its release; nil: closed.
func (p *published) acquire() *state {
	for {
		s := p.newest.Load()
		if s == nil {
			p.reopening.RLock()
			s = p.newest.Load()
			p.reopening.RUnlock()
		}
		if s == nil || s.retain() {
			return s
		}
	}
}

// publish makes s the newest state; nil: none any more.
func (p *published) publish(s *state) {
	if s != nil {
		s.closed = &p.open
		s.refs.Store(1)
		p.open.Add(1)
	}
	if old := p.newest.Swap(s); old != nil {
		old.release()
	}
}
