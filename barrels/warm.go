package barrels

import (
	"context"

	"adshard/barrels/kv"
)

// warmStretch is the number of posting lists that are read from one state; a state that is held
// keeps the database from dropping what has changed since.
const warmStretch = 64

// Warm implements Store.
func (s *barrel) Warm(ctx context.Context) (lists int) {
	st := s.Acquire()
	if st == nil {
		return 0
	}
	var cold []uint64
	if s.engine.Lists.Roomy() {
		cold = st.Terms.Cold()
	}
	st.Release()
	pace := pacer{searches: &s.searches}
	pace.begin()
	for len(cold) > 0 && ctx.Err() == nil && s.engine.Lists.Roomy() {
		stretch := cold[:min(len(cold), warmStretch)]
		lists += s.warm(stretch, &pace)
		cold = cold[len(stretch):]
	}
	return lists
}

// warm reads a stretch of lists.
func (s *barrel) warm(terms []uint64, pace *pacer) (lists int) {
	st := s.Acquire()
	if st == nil {
		return 0
	}
	defer st.Release()
	it := st.Data.Prefix(kv.Postings)
	defer it.Close()
	for _, term := range terms {
		if s.engine.Lists.Warm(st, it, term) {
			lists++
		}
		pace.yield()
	}
	return lists
}
