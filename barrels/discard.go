package barrels

import (
	"context"
	"slices"

	"google.golang.org/protobuf/proto"

	"adshard/barrels/index"
	"adshard/barrels/kv"
	"adshard/schema/pb"
)

// Discarding a slice does not trust the data that it removes: the records of keywords may not list
// all their postings, and some may be unreadable. So a first pass over all blocks removes the
// postings in the intervals, and a second pass removes the groups. The intervals stay in the
// metadata until both passes are done, so that a purge continues after a crash.

// Discard implements Store.
func (s *barrel) Discard(ctx context.Context, list []*pb.Interval) error {
	if err := checkCleared(list); err != nil {
		return err
	}
	if err := s.giveUp(list); err != nil {
		return err
	}
	p := purge{store: s}
	for {
		if kv.Over(ctx) {
			return kv.Ended(ctx, "barrels: discard")
		}
		if done, err := p.step(); done || err != nil {
			return err
		}
	}
}

// giveUp takes the slices that touch the intervals out of service.
func (s *barrel) giveUp(list []*pb.Interval) error {
	if len(list) == 0 {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.writable("barrels: discard"); err != nil {
		return err
	}
	runs := make([]index.Interval, len(list))
	for i, v := range list {
		runs[i] = index.Interval{Lo: v.Lo, Hi: v.Hi}
	}
	s.writer.begin(s.Newest.Load(), false)
	s.writer.giveUp(runs)
	return s.commit()
}

// writable reopens the database if a write has failed. It returns an error if the store cannot be
// written to. The caller holds mu.
func (s *barrel) writable(op string) error {
	if s.closed {
		return s.errClosed(op)
	}
	return s.reopen()
}

// giveUp records in the batch that the slices which overlap any of the intervals are no longer
// served and must be purged.
func (w *batchWriter) giveUp(list []index.Interval) {
	table := proto.CloneOf(w.slices)
	runs, filling := slices.Concat(w.purge, list), false
	for _, h := range table.GetSlices() {
		if slices.ContainsFunc(list, func(r index.Interval) bool { return r.Lo <= h.Hi && h.Lo <= r.Hi }) {
			h.State, h.From, h.Until = pb.HeldState_HELD_STATE_RESIDUE, 0, 0
			runs = append(runs, index.Interval{Lo: h.Lo, Hi: h.Hi})
		}
		filling = filling || h.State == pb.HeldState_HELD_STATE_FILLING
	}
	w.slices, w.purge = table, index.United(runs)
	if !filling && w.position.GetOffset() != 0 { // no slice is being filled any more
		w.position = proto.CloneOf(w.position)
		w.position.Offset = 0
	}
}

// Purging implements Store.
func (s *barrel) Purging() bool {
	st := s.Acquire()
	if st == nil {
		return false
	}
	defer st.Release()
	return len(st.Purge) > 0
}
