package layouts

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"strings"
)

// SharedWord returns a set in which all keywords have one word in common besides their
// own, so that this word distinguishes nothing.
func SharedWord(s *Set, word string) *Set {
	return rebuilt(s, func(b *Builder, i int) {
		b.Word(word)
		of := s.Of(i)
		for _, w := range of[:min(len(of), MaxWords-1)] {
			b.Word(s.Words[w])
		}
	})
}

// OnlyCommon returns a set whose keywords have only the n commonest words of s, drawn at
// random by how common they are. Each keyword has as many words as before, or n if that
// is less.
func OnlyCommon(s *Set, n int, seed uint64) *Set {
	common := s.Commonest(n)
	sums := make([]uint64, len(common)) // running sums of the counts
	sum := uint64(0)
	for i, w := range common {
		sum += uint64(s.Counts[w])
		sums[i] = sum
	}
	d := rand.New(rand.NewPCG(seed, 1))
	return rebuilt(s, func(b *Builder, i int) {
		for range s.Of(i) {
			at, _ := slices.BinarySearch(sums, d.Uint64N(sum)+1)
			b.Word(s.Words[common[at]])
		}
	})
}

// OneAdvertiser returns s with all keywords in campaigns of a single advertiser.
func OneAdvertiser(s *Set) *Set {
	out := *s
	out.Groups = slices.Clone(s.Groups)
	for i := range out.Groups {
		out.Groups[i].Advertiser = 1
	}
	return &out
}

// rebuilt returns s with other words in its keywords.
func rebuilt(s *Set, words func(b *Builder, i int)) *Set {
	b := NewBuilder()
	for g := range s.Groups {
		b.Group(s.Groups[g].Campaign, s.Groups[g].Advertiser)
		for i := int(s.Groups[g].First); i < s.GroupEnd(g); i++ {
			words(b, i)
			b.Keyword(s.Bids[i], s.Qualities[i])
		}
	}
	return b.Set()
}

// Commonest returns the n words that the most keywords have, as indexes into Words. The
// commonest come first, equally common words in alphabetical order.
func (s *Set) Commonest(n int) []uint32 {
	all := make([]uint32, len(s.Words))
	for i := range all {
		all[i] = uint32(i)
	}
	slices.SortFunc(all, func(a, b uint32) int {
		return cmp.Or(cmp.Compare(s.Counts[b], s.Counts[a]), strings.Compare(s.Words[a], s.Words[b]))
	})
	return all[:min(n, len(all))]
}
