package barrels

import (
	"context"
	"math"
	"slices"

	"adshard/barrels/index"
	"adshard/search"
)

// warmStretch is the number of posting lists, or of groups, that are read from one state. A state that is held
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
		for stretch := range slices.Chunk(cold, warmStretch) {
			n := s.warm(ctx, stretch, &pace)
			lists += n
			if n == 0 { // no room is left, or the context has ended
				break
			}
		}
	}
	for _, d := range s.engine.Devices() {
		s.warmImpacts(ctx, d, &pace)
	}
	s.warmGroups(ctx, &pace)
	return lists
}

// warmGroups caches groups, in the order of the store, until there is no room. It begins again only once groups have been added, or all
// were dropped from the cache: those that change otherwise stay in it.
func (s *barrel) warmGroups(ctx context.Context, pace *pacer) {
	var first uint64 // number of the state in which it begins; a state that is published meanwhile may have more
	for from, more := uint64(0), true; more; {
		st := s.Acquire()
		if st == nil {
			return
		}
		if from == 0 {
			first = st.Number
		}
		if from == 0 && s.unwarmed.Load() <= s.warmed.Load() {
			more = false
		} else if from, more = s.warmFrom(ctx, st, from, pace); !more && ctx.Err() == nil {
			s.warmed.Store(first)
		}
		st.Release()
	}
}

// dropGroups declares that a state may have other groups than those in the cache.
func (s *barrel) dropGroups(number uint64) {
	s.engine.Groups.ChangedAll(number)
	s.unwarmed.Store(number)
}

// warmFrom caches a stretch of groups, from a key on. It returns the key at which the next stretch begins, or false if that was the
// last one.
func (s *barrel) warmFrom(ctx context.Context, st *index.Snapshot, from uint64, pace *pacer) (next uint64, more bool) {
	w := s.engine.GroupWarmer(st)
	defer w.Close()
	for range warmStretch {
		key, ok := w.Warm(from)
		if !ok || key == math.MaxUint64 || ctx.Err() != nil {
			return 0, false
		}
		from = key + 1
		if s.Newest.Load() == nil { // the store closes, or is reopened once all states are released
			return from, true
		}
		pace.yield()
	}
	return from, true
}

// warm reads a stretch of lists. It ends at once if the store closes or is reopened, since searches
// then wait until all states are released.
func (s *barrel) warm(ctx context.Context, terms []uint64, pace *pacer) (lists int) {
	st := s.Acquire()
	if st == nil {
		return 0
	}
	defer st.Release()
	over := s.over(ctx, st)
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

// over returns a function that reports whether work on the lists of a state should end.
func (s *barrel) over(ctx context.Context, st *index.Snapshot) func() bool {
	return func() bool {
		newest := s.Newest.Load()
		return ctx.Err() != nil || newest == nil || newest.Terms != st.Terms
	}
}

// warmImpacts computes the impacts of cached blocks on a device, until there is no room.
func (s *barrel) warmImpacts(ctx context.Context, d search.Device, pace *pacer) {
	st := s.Acquire()
	if st == nil {
		return
	}
	cold := s.engine.Lists.Unready(st, d)
	st.Release()
	for stretch := range slices.Chunk(cold, warmStretch) {
		if !s.warmImpactsOf(ctx, d, stretch, pace) {
			return
		}
	}
}

// warmImpactsOf computes the impacts of a stretch of lists. It returns false if no room is left, or at the same ends as warm.
func (s *barrel) warmImpactsOf(ctx context.Context, d search.Device, terms []uint64, pace *pacer) (more bool) {
	st := s.Acquire()
	if st == nil {
		return false
	}
	defer st.Release()
	ended := s.over(ctx, st)
	over := func() bool { pace.yield(); return ended() }
	w := s.engine.ImpactWarmer(st, d)
	defer w.Close()
	for _, term := range terms {
		if !w.Warm(term, over) {
			return false
		}
	}
	return true
}
