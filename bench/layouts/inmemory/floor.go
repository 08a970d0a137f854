package inmemory

import (
	"context"
	"hash/maphash"
	"math/bits"

	"adshard/bench/layouts"
	"adshard/bench/measure"
)

// Floor is the layout "floor": it looks up each word of the query once, goes
// through the postings of that anchor once, and counts matches. Keywords take 4
// bytes per word except the anchor.
//
// These variants were tried with 430,000 keywords and queries of a log (2.65
// anchors and 229 postings each), everything in the processor's cache; times are
// nanoseconds per query. Only looking up the words: 40. With postings in columns
// for each number of words: 411 with a bit for each word of the dictionary, 325
// with a byte for each word, 486 with six bits of each number in one machine word
// and exact comparison of what passes, 460 with twelve bits in a table of 4096
// and the same comparison. With the rarest other words of all an anchor's
// postings in one column, whatever their number of words: 312 with a bit, 265
// with a byte, 253 with a byte, unrolled loops and no bounds checks (unsafe).
// Floor is the last but one.
type Floor struct{}

// Name implements layouts.Layout.
func (Floor) Name() string { return "floor" }

// Provides implements layouts.Layout.
func (Floor) Provides() layouts.Provides { return layouts.Provides{Matches: true} }

// Build implements layouts.Layout.
func (Floor) Build(ctx context.Context, set *layouts.Set, o layouts.Options) (layouts.Store, error) {
	before := measure.Heap()
	f, err := newFloor(ctx, set, o.Progress)
	if err != nil {
		return nil, err
	}
	f.memory = measure.Grown(before)
	return f, nil
}

// floorStore holds the keywords by anchor.
//
// Words are numbered by how common they are; the commonest is 0. A keyword's
// anchor is its rarest word. An anchor's postings begin in data with a mask of
// how many other words they have (bit k: some have k) and the number of postings
// that have other words at all; then the number of postings for each bit of the
// mask; then the rarest other word of each posting, by their number of words;
// then the remaining words, posting after posting in the same order.
type floorStore struct {
	slots  []slot // open addressing, a power of two, at most half full
	seed   maphash.Seed
	words  int
	data   []uint32
	memory uint64
}

// slot is a word of the dictionary. Words with equal hashes are treated as equal:
// the probability that a million words contain such a pair is 2⁻²⁵.
type slot struct {
	hash uint64 // 0: empty
	word uint32
	at   uint32 // of its postings in data; 0: it has none
}

func (f *floorStore) hash(word string) uint64 { return maphash.String(f.seed, word) | 1 }

// find returns a word's slot, or an empty slot if there is none.
func (f *floorStore) find(hash uint64) *slot {
	mask := uint64(len(f.slots) - 1)
	for i := hash >> 20; ; i++ {
		if s := &f.slots[i&mask]; s.hash == hash || s.hash == 0 {
			return s
		}
	}
}

// Searcher implements layouts.Store.
func (f *floorStore) Searcher() (layouts.Searcher, error) {
	return &floorSearcher{floorStore: f, asked: make([]uint8, f.words)}, nil
}

// Size implements layouts.Store.
func (f *floorStore) Size() (layouts.Size, error) { return layouts.Size{Memory: f.memory}, nil }

// Close implements layouts.Store.
func (f *floorStore) Close() error { return nil }

// floorSearcher has a byte for each word, which is 1 for the words of the query.
type floorSearcher struct {
	*floorStore
	asked []uint8
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
			s.asked[slot.word] = 1
		}
	}
	for _, a := range at[:n] {
		if a != 0 {
			f.Matches += s.count(s.data[a:])
		}
	}
	for _, w := range words[:n] {
		s.asked[w] = 0
	}
	return f, nil
}

// count counts the matches among an anchor's postings.
func (s *floorSearcher) count(data []uint32) (matches uint64) {
	mask, n, counts := data[0], data[1], data[2:]
	others := counts[bits.OnesCount32(mask):]
	if mask&1 != 0 {
		matches = uint64(counts[0])
		counts = counts[1:]
	}
	ones := uint32(0)
	if mask&2 != 0 {
		ones = counts[0]
		counts = counts[1:]
	}
	asked := s.asked
	for _, w := range others[:ones] {
		matches += uint64(asked[w])
	}
	for i, w := range others[ones:n] {
		if asked[w] != 0 {
			matches += s.rest(others[n:], counts, mask>>2, i)
		}
	}
	return matches
}

// rest returns 1 if the remaining words of posting i are all in the query, else
// 0. counts and mask describe the postings with one remaining word, two words and
// so on.
func (s *floorSearcher) rest(words, counts []uint32, mask uint32, i int) uint64 {
	for mask != 0 {
		k, n := bits.TrailingZeros32(mask)+1, int(counts[0])
		if i < n {
			all := uint8(1)
			for _, w := range words[i*k : i*k+k] {
				all &= s.asked[w]
			}
			return uint64(all)
		}
		i, words, counts, mask = i-n, words[n*k:], counts[1:], mask&(mask-1)
	}
	return 0
}
