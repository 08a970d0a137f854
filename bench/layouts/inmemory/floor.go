package inmemory

import (
	"context"
	"hash/maphash"
	"math/bits"

	"adshard/bench/layouts"
)

// Floor is the layout "floor".
type Floor struct{}

// Name implements layouts.Layout.
func (Floor) Name() string { return "floor" }

// Tells implements layouts.Layout.
func (Floor) Tells() layouts.Tells { return layouts.Tells{Matches: true} }

// Build implements layouts.Layout.
func (Floor) Build(ctx context.Context, set *layouts.Set, o layouts.Options) (layouts.Store, error) {
	before := heap()
	f, err := newFloor(ctx, set, o.Progress)
	if err != nil {
		return nil, err
	}
	f.memory = grown(before)
	return f, nil
}

// floor is the keywords by anchor.
//
// Words are numbered by how common they are, the commonest is 0. A keyword's
// anchor is its rarest word. An anchor's candidates begin in data with a mask of
// how many words they have besides it (bit k: some have k), then the number of
// candidates for each bit, then for each bit the other words in columns: the
// rarest of each candidate, then the next rarest of each and so on.
type floor struct {
	slots  []slot // open addressing, a power of two, at most half full
	seed   maphash.Seed
	words  int
	data   []uint32
	memory uint64
}

// slot is a word of the dictionary. Words of equal hashes are taken for equal:
// among a million there are some with a probability of 2⁻²⁵.
type slot struct {
	hash uint64 // 0: empty
	word uint32
	at   uint32 // of its candidates in data; 0: none
}

func (f *floor) hash(word string) uint64 { return maphash.String(f.seed, word) | 1 }

// find returns a word's slot, or an empty one.
func (f *floor) find(hash uint64) *slot {
	mask := uint64(len(f.slots) - 1)
	for i := hash >> 20; ; i++ {
		if s := &f.slots[i&mask]; s.hash == hash || s.hash == 0 {
			return s
		}
	}
}

// Searcher implements layouts.Store.
func (f *floor) Searcher() (layouts.Searcher, error) {
	return &floorSearcher{floor: f, asked: make([]uint64, f.words/64+1)}, nil
}

// Size implements layouts.Store.
func (f *floor) Size() (layouts.Size, error) { return layouts.Size{Memory: f.memory}, nil }

// Close implements layouts.Store.
func (f *floor) Close() error { return nil }

// floorSearcher has a bit for each word, set for those of the query.
type floorSearcher struct {
	*floor
	asked []uint64
}

// Close implements layouts.Searcher.
func (s *floorSearcher) Close() error { return nil }

// Search implements layouts.Searcher.
func (s *floorSearcher) Search(ctx context.Context, q *layouts.Query) (f layouts.Found, err error) {
	if err := ctx.Err(); err != nil {
		return f, err
	}
	var words, at [32]uint32
	n := 0
	for _, w := range q.Words {
		if slot := s.find(s.hash(w)); slot.hash != 0 {
			words[n], at[n] = slot.word, slot.at
			n++
			s.asked[slot.word>>6] |= 1 << (slot.word & 63)
		}
	}
	for _, a := range at[:n] {
		if a != 0 {
			f.Matches += s.count(s.data[a:])
		}
	}
	for _, w := range words[:n] {
		s.asked[w>>6] = 0
	}
	return f, nil
}

// count counts the matches among an anchor's candidates.
func (s *floorSearcher) count(data []uint32) (matches uint64) {
	mask, counts := data[0], data[1:]
	body := counts[bits.OnesCount32(mask):]
	for i := 0; mask != 0; mask, i = mask&(mask-1), i+1 {
		n, k := int(counts[i]), bits.TrailingZeros32(mask)
		switch k {
		case 0:
			matches += uint64(n)
		case 1:
			matches += s.among(body[:n])
		default:
			matches += s.tuples(body, n, k)
		}
		body = body[n*k:]
	}
	return matches
}

// among counts the words that are the query's.
func (s *floorSearcher) among(column []uint32) (n uint64) {
	asked := s.asked
	for _, w := range column {
		n += asked[w>>6] >> (w & 63) & 1
	}
	return n
}

// tuples counts the candidates of k words all of which are the query's.
func (s *floorSearcher) tuples(columns []uint32, n, k int) (matches uint64) {
	asked := s.asked
	for i, w := range columns[:n] {
		if asked[w>>6]>>(w&63)&1 == 0 {
			continue
		}
		all := uint64(1)
		for j := i + n; j < n*k; j += n {
			w := columns[j]
			all &= asked[w>>6] >> (w & 63)
		}
		matches += all
	}
	return matches
}
