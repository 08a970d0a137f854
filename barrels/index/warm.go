package index

import (
	"cmp"
	"slices"
	"unsafe"

	"adshard/barrels/kv"
	"adshard/search"
)

// postingBytes is about the least memory that a cached posting takes, including its share of the
// block.
const postingBytes = 40

// longest is the number of lists that are read before all others, since their first searches would
// take longest.
const longest = 1024

// Cold returns the terms whose posting lists are not cached: first those with the longest lists, then
// all others, both in ascending order, so that they are read in the order of the store. If there is no
// room for all, it leaves out the shortest lists. It also leaves out lists too large for the cache.
func (l *ListCache) Cold(t *Dictionary) []uint64 {
	room, most := l.roomToWarm(), uint64(max(0, l.MaxBytes())/postingBytes)
	if room <= 0 {
		return nil
	}
	var cold []*termEntry
	for i := range t.slots {
		s := &t.slots[i]
		if n := s.postings(); s.key.Load() == 0 || n == 0 || n > most {
			continue
		}
		if list := s.list.Load(); list == nil || list.state < s.changed.Load() {
			cold = append(cold, s)
		}
	}
	slices.SortFunc(cold, func(a, b *termEntry) int { return cmp.Compare(b.postings(), a.postings()) })
	var terms []uint64
	for i := 0; i < len(cold) && room > 0; i++ {
		terms = append(terms, cold[i].key.Load())
		room -= int64(unsafe.Sizeof(loneList{})) + int64(cold[i].postings()*postingBytes)
	}
	n := min(len(terms), longest)
	slices.Sort(terms[:n])
	slices.Sort(terms[n:])
	return terms
}

// roomToWarm returns how many bytes of lists can be cached ahead of searches, which leaves a quarter
// to those that searches ask for.
func (l *ListCache) roomToWarm() int64 {
	return l.room.Ahead() - l.bytes.Load()
}

// RoomForImpacts reports whether impacts of a block may be cached ahead of searches.
func (l *ListCache) RoomForImpacts(b *Block) bool {
	return l.roomToWarm() >= int64(8*(impactsSize+classWords(b)+b.View.Groups())) // at most one profile a group
}

// Unready returns the terms of the lists cached for a state of which some block is not ready for searches of the newest view on a
// device: lists that were used lately first, and then the longest first. It returns none if nothing may be cached ahead of searches.
func (l *ListCache) Unready(st *Snapshot, d search.Device) (terms []uint64) {
	if l.roomToWarm() <= 0 {
		return nil
	}
	type heat struct {
		term, postings uint64
		used           bool
	}
	var list []heat
	for i := range st.Terms.slots {
		s := &st.Terms.slots[i]
		if of := s.list.Load(); of != nil && of.state >= s.changed.Load() && !of.ready(st, d) {
			list = append(list, heat{s.key.Load(), s.postings(), of.used.Load()})
		}
	}
	slices.SortFunc(list, func(a, b heat) int {
		switch {
		case a.used && !b.used:
			return -1
		case b.used && !a.used:
			return 1
		}
		return cmp.Compare(b.postings, a.postings)
	})
	for _, h := range list {
		terms = append(terms, h.term)
	}
	return terms
}

// ready reports whether searches on a device need not prepare any block, nor compute impacts.
func (l *PostingList) ready(st *Snapshot, d search.Device) bool {
	for i := range l.Blocks {
		b := l.Blocks[i].Load()
		j := b.Impacts[d].Load()
		if !b.prepared || b.Live && (j == nil || !j.Serves(st.Slices.newest.Number) || j.ParentsVersion.Load() < st.Parents.Version) {
			return false
		}
	}
	return true
}

// postings returns the number of postings anchored at the term.
func (s *termEntry) postings() uint64 { return uint64(statsOf(s.info.Load()).Postings) }

// Warmer caches posting lists ahead of searches. Only one goroutine may use it.
type Warmer struct {
	lists *ListCache
	state *Snapshot
	it    kv.Iterator
	at    bool // whether the iterator is at a block
}

// Warmer returns a Warmer of the lists of a state, which the caller holds until it has closed the Warmer.
func (l *ListCache) Warmer(st *Snapshot) *Warmer {
	return &Warmer{lists: l, state: st, it: st.Data.Full(kv.Postings)}
}

// Close ends the use of the state.
func (w *Warmer) Close() { w.it.Close() }

// Warm caches the list of a term, which is quick if terms come in ascending order. It gives up if
// less than a quarter of the lists' memory would remain free, or if `over` returns true between two
// blocks. It returns false if it did not cache the list, or the list was cached already. It does not
// report damage; a search that reads the list does.
func (w *Warmer) Warm(term uint64, over func() bool) bool {
	if w.state.Terms.Peek(term, w.state.Number) != nil {
		return false
	}
	c := ListBuilder{room: max(0, int(min(w.lists.MaxBytes(), w.lists.roomToWarm()))-listOverhead)}
	for ok := w.seek(term); ok; ok = w.next(term) {
		at := kv.Place{Key: kv.KeyPart(w.it.Key(), 1), Keyword: kv.KeyPart(w.it.Key(), 2)}
		if b, _ := c.Add(term, at, w.it.Value()); b == nil || over() {
			return false
		}
	}
	list := c.List(w.state.Number)
	if w.it.Err() != nil || list == nil {
		return false
	}
	w.lists.Put(w.state.Terms, term, list)
	return true
}

// nearBlocks is the number of blocks that are passed over before the iterator seeks, which costs as
// much.
const nearBlocks = 16

// seek moves to the first block of a term. It returns false if there is none.
func (w *Warmer) seek(term uint64) bool {
	for n := 0; w.at && n < nearBlocks && kv.KeyPart(w.it.Key(), 0) < term; n++ {
		w.at = w.it.Next()
	}
	if !w.at || kv.KeyPart(w.it.Key(), 0) < term {
		w.at = w.it.Seek(kv.AppendKey(nil, term, 0, 0))
	}
	return w.at && kv.KeyPart(w.it.Key(), 0) == term
}

// next moves to the next block of a term. It returns false if there is none.
func (w *Warmer) next(term uint64) bool {
	w.at = w.it.Next()
	return w.at && kv.KeyPart(w.it.Key(), 0) == term
}
