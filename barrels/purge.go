package barrels

import (
	"slices"

	"google.golang.org/protobuf/proto"

	"adshard/barrels/block"
	"adshard/barrels/index"
	"adshard/barrels/kv"
	"adshard/schema/pb"
)

// purge empties the intervals that were discarded, one batch per step.
type purge struct {
	store  *barrel
	runs   []index.Interval // being purged
	groups bool             // whether the blocks are done and the groups are next
	cursor []byte           // key at which the next step begins
	view   block.View
	torn   []index.Interval // intervals that damaged blocks may have covered
}

// step writes one batch. done is true if nothing is left to purge.
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
	if !slices.Equal(p.runs, st.Purge) { // more was discarded since the last step
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

// blocks removes the postings in the intervals from the blocks, starting at the cursor. A damaged
// block is removed as a whole, and the slices that it may have covered are discarded too.
func (p *purge) blocks(w *batchWriter, st *index.Snapshot) error {
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
		w.pace.yield()
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
		w.giveUp(p.torn) // the next step starts over
	}
	return nil
}

// purgeBytes is the approximate size of a batch.
const purgeBytes = 4 << 20

// block rewrites the current block without the postings in the intervals.
func (p *purge) block(w *batchWriter, term uint64, key []byte) {
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

// items removes the groups in the intervals, starting at the cursor. If none is left, it removes
// the discarded slices from the table.
func (p *purge) items(w *batchWriter, st *index.Snapshot) error {
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

// purged adds the removal of a group's record or page to the batch. It subtracts the page's
// keywords from the counters if they can be read.
func (w *batchWriter) purged(key, value []byte) {
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
