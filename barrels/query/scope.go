package query

import (
	"slices"

	"adshard/barrels/index"
	"adshard/search"
)

// scope is what all stages of one search share: the snapshot, the request, and the damage found.
type scope struct {
	state   *index.Snapshot
	request *search.Request
	served  *index.Served
	caches  *Engine
	// bad are the parts of the ring whose data could not be read. memory means that some were
	// damaged only in the cache.
	bad    []index.Interval
	memory bool
	// touched keeps the compiler from removing loads that only prefetch.
	touched uint64
}

// reset begins a search. Its errors are those of index.Slices.Served.
func (s *scope) reset(e *Engine, st *index.Snapshot, r *search.Request, op string) (err error) {
	s.state, s.request, s.caches = st, r, e
	s.bad, s.memory = s.bad[:0], false
	s.served, err = st.Slices.Served(op, r.Shard, r.View)
	return err
}

// release drops references to a request.
func (s *scope) release() { s.state, s.request, s.served, s.caches = nil, nil, nil, nil }

// damage returns the damage found so far.
func (s *scope) damage() Damage {
	if len(s.bad) == 0 {
		return Damage{}
	}
	return Damage{Bad: slices.Clone(s.bad), Memory: s.memory}
}

// damagedAt records that the group with a key cannot be read.
func (s *scope) damagedAt(key uint64) { s.bad = append(s.bad, index.Interval{Lo: key, Hi: key}) }
