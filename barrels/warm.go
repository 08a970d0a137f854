package barrels

import "context"

// warmStretch is the number of posting lists that are read from one state. A state that is held
// prevents the database from dropping data that have changed since.
const warmStretch = 1024

// warmPasses is how often Warm looks for lists that are not prepared. The second pass prepares those that
// changed during the first. More would not end while changes go on.
const warmPasses = 2

// Warm implements Store.
func (s *barrel) Warm(ctx context.Context) (lists int) {
	pace := pacer{searches: &s.searches}
	pace.begin()
	for range warmPasses {
		st := s.Acquire()
		if st == nil {
			return lists
		}
		cold := s.engine.Lists.Cold(st.Terms)
		st.Release()
		for len(cold) > 0 {
			stretch := cold[:min(len(cold), warmStretch)]
			n := s.warm(ctx, stretch, &pace)
			if n == 0 { // no room is left, or the context has ended
				return lists
			}
			lists += n
			cold = cold[len(stretch):]
		}
	}
	return lists
}

// warm reads a stretch of lists. It ends at once if the store closes or is reopened, since searches
// then wait until all states are released.
func (s *barrel) warm(ctx context.Context, terms []uint64, pace *pacer) (lists int) {
	st := s.Acquire()
	if st == nil {
		return 0
	}
	defer st.Release()
	over := func() bool {
		newest := s.Newest.Load()
		return ctx.Err() != nil || newest == nil || newest.Terms != st.Terms
	}
	w := s.engine.Lists.Warmer(st)
	defer w.Close()
	for _, term := range terms {
		if over() {
			break
		}
		if w.Warm(term, over) {
			lists++
		}
		pace.yield()
	}
	return lists
}
