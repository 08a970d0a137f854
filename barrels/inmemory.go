package barrels

import (
	"bytes"

	"adshard/barrels/index"
	"adshard/barrels/kv"
	"adshard/search"
)

// What searches keep in memory is compared with the store's bytes while a
// certificate is made: a bit that flipped there shows in no checksum. What
// differs is dropped, so that searches read the store again.

// inMemory compares. The zero value is ready.
type inMemory struct {
	finder *finder
}

// free gives back what comparing took.
func (c *certifier) free() {
	if c.memory.finder != nil {
		c.memory.finder.free()
	}
}

// finderOf returns a finder of the certifier's state for a request.
func (c *certifier) finderOf(r *search.Request) (*finder, bool) {
	if c.memory.finder == nil {
		c.memory.finder = finders.Get().(*finder)
	}
	err := c.memory.finder.reset(c.state, r, c.store, "barrels: certify")
	return c.memory.finder, err == nil
}

// compareBlock compares what is kept of a stored block, once in a pass over all
// intervals: in the one in which the block's first posting lies.
func (c *certifier) compareBlock(term uint64, at kv.Place, value []byte) {
	if first := viewPlace(&c.view, 0); first.Key < c.lo || first.Key > c.hi {
		return
	}
	list := c.state.Terms.Peek(term, c.state.Number)
	if list == nil {
		return
	}
	if b := list.Same(term, at, value); b != nil && c.sameJudgements(b) {
		return
	}
	c.store.lists.Drop(c.state.Terms, term)
	c.store.met(Damage{Lo: c.lo, Hi: c.hi, Memory: true, What: "a block of keywords kept in memory differs from the store's"})
}

// sameJudgements reports whether what is known of a kept block's postings, of
// those judgements that hold now, is right.
func (c *certifier) sameJudgements(b *index.Block) bool {
	for d := range b.Impacts {
		j := b.Impacts[d].Load()
		if j == nil || j.ParentsVersion.Load() != c.state.Parents.Version {
			continue
		}
		f, ok := c.finderOf(&search.Request{Device: search.Device(d), Slots: 1, View: j.View})
		if !ok || j.TableNumber != f.served.TableNumber || j.View != f.served.View {
			continue
		}
		if !j.Same(b, f.judgeBlock(b)) {
			return false
		}
	}
	return true
}

// compareGroup compares what is kept of a group.
func (c *certifier) compareGroup(key uint64) {
	kept, ok := c.store.groups.Get(key, c.state.Number)
	if !ok {
		return
	}
	f, ok := c.finderOf(&search.Request{Slots: 1})
	if !ok {
		return
	}
	if want, _, ok := f.read(key); ok && kept.Same(want) {
		return
	}
	c.store.groups.Drop(key)
	c.store.met(Damage{Lo: key, Hi: key, Memory: true, What: "an ad group kept in memory differs from the store's"})
}

// forgetShown drops what is kept to be shown of a keyword: putting it together
// again costs less than comparing it.
func (c *certifier) forgetShown(keyword uint64) {
	slot := c.store.shown.slot(keyword)
	if s := slot.Load(); s != nil && s.keyword == keyword {
		slot.CompareAndSwap(s, nil)
	}
}

// mendParent replaces a parent in memory by the stored one.
func (s *store) mendParent(kind byte, id uint64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.kv.Failed() {
		return s.errClosed("barrels: certify")
	}
	old := s.Newest.Load()
	key := kv.AppendParentKey(nil, kind, id)
	raw, ok, err := old.Data.Get(kv.Parents, key, nil)
	if err != nil || !ok {
		return err
	}
	if same, err := old.Parents.Matches(kind, id, raw); err != nil || same {
		return err
	}
	mended := old.Parents.Copy()
	if err := mended.Load(bytes.Clone(key), raw); err != nil {
		return err
	}
	next := &index.Snapshot{
		Number: old.Number + 1, Data: old.Data.Again(), Terms: old.Terms, Parents: mended, Builder: old.Builder,
		Position: old.Position, Slices: old.Slices, Counters: old.Counters, Purge: old.Purge,
	}
	s.Publish(next)
	s.met(Damage{Memory: true, What: "a campaign or an advertiser kept in memory differs from the store's"})
	return nil
}
