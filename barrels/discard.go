package barrels

import (
	"context"
	"slices"

	"google.golang.org/protobuf/proto"

	"adshard/barrels/block"
	"adshard/barrels/index"
	"adshard/barrels/kv"
	"adshard/fault"
	"adshard/schema/pb"
)

// Discarding a slice does not trust the data that it removes: its keywords' records
// may not name all of its postings, and some may be unreadable. So one pass over all
// blocks removes the postings in its interval, and another one over its groups removes
// those. The intervals are kept in the metadata until that is done, so that it
// continues after a crash.

// Discard implements Store.
func (s *store) Discard(ctx context.Context, list []*pb.Interval) error {
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

// giveUp takes slices out of service.
func (s *store) giveUp(list []*pb.Interval) error {
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

// writable opens a failed DB again; the caller has mu.
func (s *store) writable(op string) error {
	if s.closed {
		return s.errClosed(op)
	}
	return s.reopen()
}

// giveUp prepares that the slices that touch any of some intervals are no longer
// served, and that what lies in them is to be purged.
func (w *writer) giveUp(list []index.Interval) {
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
	if !filling && w.position.GetOffset() != 0 { // nothing is being filled any more
		w.position = proto.CloneOf(w.position)
		w.position.Offset = 0
	}
}

// purge empties the intervals that were discarded, one batch per step.
type purge struct {
	store  *store
	runs   []index.Interval // being purged
	groups bool             // all blocks are done, the groups follow
	cursor []byte           // where to go on
	view   block.View
	torn   []index.Interval // of damaged blocks
}

// step does one batch; done: nothing is left to be purged.
func (p *purge) step() (done bool, err error) {
	s := p.store
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.writable("barrels: discard"); err != nil {
		return false, err
	}
	st := s.Newest.Load()
	if len(st.Purge) == 0 {
		return true, nil
	}
	if !slices.Equal(p.runs, st.Purge) { // there are more than at the step before
		p.runs, p.groups, p.cursor = st.Purge, false, nil
	}
	s.writer.begin(st, false)
	if !p.groups {
		err = p.blocks(s.writer, st)
	} else {
		err = p.items(s.writer, st)
	}
	if err != nil {
		return false, err
	}
	cleared := s.writer.cleared
	err = s.commit()
	s.upkeep.add(cleared)
	return false, err
}

// blocks takes the postings of the intervals out of the blocks from the cursor
// on. A block that is damaged goes as a whole, and with it the slices that it
// may touch.
func (p *purge) blocks(w *writer, st *index.Snapshot) error {
	it := st.Data.Full(kv.Postings)
	defer it.Close()
	p.torn = p.torn[:0]
	torn, term := false, uint64(0)
	ok := it.Seek(p.cursor)
	for ; ok && w.batch.Bytes() < purgeBytes; ok = it.Next() {
		if torn && kv.KeyPart(it.Key(), 0) == term {
			p.torn[len(p.torn)-1].Hi = kv.KeyPart(it.Key(), 1)
		}
		term, torn = kv.KeyPart(it.Key(), 0), false
		if p.view.Open(it.Value()) != nil || p.view.Check() != nil {
			torn = true
			p.torn = append(p.torn, index.Interval{Lo: kv.KeyPart(it.Key(), 1), Hi: ^uint64(0)})
			w.batch.Delete(kv.Postings, it.Key())
			w.counters.Blocks--
			continue
		}
		p.block(w, term, it.Key())
	}
	if err := it.Err(); err != nil {
		return err
	}
	if ok && torn && kv.KeyPart(it.Key(), 0) == term {
		p.torn[len(p.torn)-1].Hi = kv.KeyPart(it.Key(), 1)
	}
	if p.groups = !ok; ok {
		p.cursor = slices.Clone(it.Key())
	} else {
		p.cursor = nil
	}
	if slices.ContainsFunc(p.torn, func(r index.Interval) bool { return !index.Covered(r, p.runs, nil) }) {
		w.giveUp(p.torn) // and the next step starts over
	}
	return nil
}

// purgeBytes is about what one batch writes.
const purgeBytes = 4 << 20

// block rewrites the block at hand without the postings of the intervals.
func (p *purge) block(w *writer, term uint64, key []byte) {
	n := p.view.Len()
	last, _ := p.view.Key(n - 1)
	first, _ := p.view.Key(0)
	if !slices.ContainsFunc(p.runs, func(r index.Interval) bool { return r.Lo <= last && first <= r.Hi }) {
		return
	}
	e := &w.blocks.encoder
	e.Reset()
	kept := 0
	for i := 0; i < n; {
		end := i
		for end < n && !p.within(end) {
			end++
		}
		if end > i {
			e.Copy(&p.view, i, end)
			kept += end - i
		}
		i = end + 1
	}
	if kept == n {
		return
	}
	w.postings[term] -= int32(n - kept)
	w.counters.Postings -= int64(n - kept)
	if kept == 0 {
		w.batch.Delete(kv.Postings, key)
		w.counters.Blocks--
		return
	}
	w.batch.PutFunc(kv.Postings, key, e.Append)
}

// within reports whether posting i of the block lies in one of the intervals.
func (p *purge) within(i int) bool {
	key, _ := p.view.Key(i)
	return index.Within(p.runs, key)
}

// items removes the groups of the intervals from the cursor on. At the end the
// table no longer names what was discarded: nothing of it is left.
func (p *purge) items(w *writer, st *index.Snapshot) error {
	it := st.Data.Full(kv.Items)
	defer it.Close()
	for _, r := range p.runs {
		from := kv.AppendKey(nil, r.Lo, kv.GroupRecord)
		if len(p.cursor) > 0 && kv.KeyPart(p.cursor, 0) > r.Hi {
			continue
		}
		if len(p.cursor) > 0 && kv.KeyPart(p.cursor, 0) >= r.Lo {
			from = p.cursor
		}
		for ok := it.Seek(from); ok && kv.KeyPart(it.Key(), 0) <= r.Hi; ok = it.Next() {
			if w.batch.Len() >= clearPostings {
				p.cursor = slices.Clone(it.Key())
				return nil
			}
			w.purged(it.Key(), it.Value())
		}
		if err := it.Err(); err != nil {
			return err
		}
	}
	table := proto.CloneOf(w.slices)
	table.Slices = slices.DeleteFunc(table.Slices, func(h *pb.HeldSlice) bool {
		return h.State == pb.HeldState_HELD_STATE_RESIDUE && index.Covered(index.Interval{Lo: h.Lo, Hi: h.Hi}, p.runs, nil)
	})
	w.slices, w.purge = table, nil
	return nil
}

// purged prepares the removal of a group's record or of a page, whose keywords
// are counted as far as they can be read.
func (w *writer) purged(key, value []byte) {
	w.batch.Delete(kv.Items, key)
	if kv.KeyPart(key, 1) == kv.GroupRecord {
		w.counters.Groups--
		w.cleared++
		return
	}
	if w.reader.Open(value) != nil {
		return
	}
	for {
		k, err := w.reader.Next()
		if err != nil || k == nil {
			return
		}
		w.counters.Keywords--
		w.countData(k, -1)
	}
}

// Purging implements Store.
func (s *store) Purging() bool {
	st := s.Acquire()
	if st == nil {
		return false
	}
	defer st.Release()
	return len(st.Purge) > 0
}

// Present implements Store.
func (s *store) Present() error {
	if !s.mu.TryLock() {
		return nil // it is being written to, or recreated
	}
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	if kv, ok := s.kv.(kv.Recreator); ok {
		return kv.Present()
	}
	return nil
}

// Renew implements Store.
func (s *store) Renew() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return s.errClosed("barrels: renew")
	}
	kv, ok := s.kv.(kv.Recreator)
	if !ok {
		return fault.Newf(fault.Internal, "barrels: renew", "this kind of store cannot be recreated")
	}
	if err := s.again(kv.Recreate); err != nil {
		return err
	}
	s.upkeep = upkeep{changed: unknown}
	return nil
}
