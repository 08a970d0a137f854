package barrels

import (
	"bytes"
	"reflect"
	"slices"
	"sort"
	"unsafe"

	"adshard/barrels/kv"
	"adshard/schema/pb"
	"adshard/search"

	"google.golang.org/protobuf/proto"
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
	s := c.state.terms.slot(term)
	list := s.list.Load()
	if changed := s.changed.Load(); s.key.Load() != term || list == nil || list.state < changed || c.state.number < changed {
		return
	}
	if c.sameBlock(list, term, at, value) {
		return
	}
	c.store.lists.drop(s)
	c.store.met(Damage{Lo: c.lo, Hi: c.hi, Memory: true, What: "a block of keywords kept in memory differs from the store's"})
}

// sameBlock reports whether a list has a block as it is stored.
func (c *certifier) sameBlock(list *termList, term uint64, at kv.Place, value []byte) bool {
	i := sort.Search(len(list.blocks), func(i int) bool { return !list.place(i).Less(at) })
	if i == len(list.blocks) || list.place(i) != at {
		return false
	}
	kept, want := list.blocks[i].Load(), newTermBlock(term, at, value)
	if want == nil || kept.term != term || !kept.view.Equal(&want.view) || kept.bounds != want.bounds {
		return false
	}
	if list.bounds != nil {
		for d := range list.bounds {
			if list.bounds[d].blocks[i] != want.bounds[d] {
				return false
			}
		}
	}
	if !kept.ready {
		return true
	}
	ready := new(termBlock)
	return want.makeReady(ready) && kept.postings == ready.postings && kept.live == ready.live &&
		slices.Equal(kept.room(), ready.room()) && slices.Equal(kept.norms, ready.norms) && c.sameJudgements(kept)
}

// room is the memory that a ready block's signatures, rows and members lie in.
func (b *termBlock) room() []uint64 {
	n := len(b.signatures)
	return unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(b.signatures))), n+n*rowSize+int(b.postings)*memberSize)
}

// sameJudgements reports whether what is known of a kept block's postings, of
// those judgements that hold now, is right.
func (c *certifier) sameJudgements(b *termBlock) bool {
	for d := range b.judged {
		j := b.judged[d].Load()
		if j == nil || j.parents.Load() != c.state.parents.version {
			continue
		}
		f, ok := c.finderOf(&search.Request{Device: search.Device(d), Slots: 1, View: j.view})
		if !ok || j.views != f.served.views || j.view != f.served.view {
			continue
		}
		n := sumSize*len(b.signatures) + int(b.postings)
		words := func(j *judgement) []uint64 { return unsafe.Slice((*uint64)(j.at(0)), n) }
		if !slices.Equal(words(j), words(f.judgeBlock(b))) {
			return false
		}
	}
	return true
}

// compareGroup compares what is kept of a group.
func (c *certifier) compareGroup(key uint64) {
	kept, ok := c.store.groups.get(key, c.state.number)
	if !ok {
		return
	}
	f, ok := c.finderOf(&search.Request{Slots: 1})
	if !ok {
		return
	}
	if want, _, ok := f.read(key); ok && kept.same(want) {
		return
	}
	c.store.groups.drop(key)
	c.store.met(Damage{Lo: key, Hi: key, Memory: true, What: "an ad group kept in memory differs from the store's"})
}

// same reports whether two groups read are the same to searches.
func (g *groupItems) same(h *groupItems) bool {
	return g.Name == h.Name && g.texts == h.texts && g.partial == h.partial && slices.Equal(g.ids, h.ids) &&
		slices.Equal(g.ends, h.ends) && reflect.DeepEqual(g.Ads, h.Ads) &&
		slices.EqualFunc(g.Negatives, h.Negatives, func(a, b *pb.Negative) bool { return proto.Equal(a, b) })
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
	old := s.newest.Load()
	key := kv.AppendParentKey(nil, kind, id)
	raw, ok, err := old.snapshot.Get(kv.Parents, key, nil)
	if err != nil || !ok {
		return err
	}
	if same, err := old.parents.has(kind, id, raw); err != nil || same {
		return err
	}
	mended := old.parents.copy()
	if err := mended.load(bytes.Clone(key), raw); err != nil {
		return err
	}
	next := &state{
		number: old.number + 1, snapshot: old.snapshot.again(), terms: old.terms, parents: mended, builder: old.builder,
		position: old.position, views: old.views, counters: old.counters, purge: old.purge,
	}
	s.publish(next)
	s.met(Damage{Memory: true, What: "a campaign or an advertiser kept in memory differs from the store's"})
	return nil
}
