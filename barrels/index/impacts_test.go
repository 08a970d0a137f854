package index

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"adshard/barrels/block"
	"adshard/barrels/kv"
	"adshard/targeting"
)

// TestRank: the impacts of a class are ordered like hits, the first impact of each advertiser
// before all that it dominates, and none is lost.
func TestRank(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 12).Draw(t, "members")
		members, impacts := rankable(t, n), make([]Impact, n)
		for i := range n {
			w := rapid.SampledFrom([]EffectiveBid{NoMatch, NoCandidate, Undecided, 2, 3, 4, Undecided - 1}).Draw(t, "bid")
			quality := rapid.OneOf(rapid.Uint8Range(1, 3), rapid.Just(uint8(MaxQuality))).Draw(t, "quality")
			e := NewImpact(w, quality, i)
			if takes := w > NoCandidate && w != Undecided; e.Bid() != w || e.Posting() != i || takes && e.Quality() != uint64(quality) || (e.Product() > 0) != takes {
				t.Fatalf("%d of quality %d became %x", w, quality, uint64(e))
			}
			impacts[i] = e
		}
		before := slices.Clone(impacts)
		Rank(impacts, members)
		best := make(map[uint64]bool)
		for i, e := range impacts {
			owner := members.Advertiser(e.Posting())
			if again := e&Dominated != 0; again != best[owner] {
				t.Fatalf("%d of %v: dominated %v", i, impacts, again)
			}
			best[owner] = true
			if i > 0 && impacts[i-1]&Dominated == e&Dominated {
				a, b := impacts[i-1], e
				if a.Product() < b.Product() || a.Product() == b.Product() && members.View.Keyword(a.Posting()) > members.View.Keyword(b.Posting()) {
					t.Fatalf("%d of %v comes too early", i-1, impacts)
				}
			}
		}
		after := slices.Clone(impacts)
		for i := range after {
			after[i] &^= Dominated
		}
		slices.Sort(before)
		slices.Sort(after)
		if !slices.Equal(before, after) {
			t.Fatalf("%v became %v", before, after)
		}
	})
}

// rankable returns a block of n postings of some advertisers, whose keywords are in no
// particular order.
func rankable(t *rapid.T, n int) *Block {
	var e block.Encoder
	e.Reset()
	for i := range n {
		e.Add(&block.Entry{
			Group:   &block.Group{Key: uint64(i), Advertiser: rapid.Uint64Range(1, 4).Draw(t, "advertiser")},
			Keyword: uint64(100 - i), Words: []block.Word{{Norm: 1, Fold: 1, Term: 1}},
		})
	}
	return NewBlock(1, kv.Place{}, e.Append(nil))
}

// TestBeaten: an impact is beaten only if no context raises its bid so that it reaches the
// score, even with the largest numbers.
func TestBeaten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		bid, quality := rapid.Uint64Range(1, uint64(Undecided)-2).Draw(t, "bid"), rapid.Uint64Range(1, MaxQuality).Draw(t, "quality")
		draw := func(name string) uint16 { return uint16(rapid.IntRange(100, targeting.MaxModifier).Draw(t, name)) }
		f := targeting.Factors{Schedule: draw("schedule"), Location: draw("location"), Audience: draw("audience"), Site: draw("site")}
		device := rapid.Uint64Range(1, targeting.MaxModifier).Draw(t, "device")
		c := CampaignState{Most: uint32(mostOf(&f))}
		effective := bid * device / 1000
		if effective == 0 || effective >= uint64(Undecided)-1 {
			return
		}
		one := rapid.Uint64Range(1, 100_000).Draw(t, "one")
		score := bid * f.Apply(device) / 1000 * quality * one
		need := rapid.Uint64Range(0, score).Draw(t, "need")
		if NewImpact(EffectiveBid(effective)+1, uint8(quality), 0).Beaten(c.ProfileRef(), one, need) {
			t.Fatalf("a score of %d is beaten by %d", score, need)
		}
	})
}

// mostOf returns the largest product of the factors, each of which counts as at least 1000.
func mostOf(f *targeting.Factors) uint64 {
	most := uint64(1000)
	for _, by := range f.All() {
		most = (most*uint64(max(by, 1000)) + 999) / 1000
	}
	return most
}

// TestGrew: impacts that replace others with other profiles are counted with their own size.
func TestGrew(t *testing.T) {
	var e block.Encoder
	e.Add(&block.Entry{Group: &block.Group{Key: 1}, Keyword: 1, Words: []block.Word{{Norm: 1, Fold: 1, Term: 1}}})
	b, l := NewPostingList(1, []*Block{NewBlock(1, kv.Place{}, e.Append(nil))}).Block(0), NewListCache(alone(1<<20))
	if got := NewImpacts(b, nil).Profiles(b); got != nil { // after them there is other memory
		t.Errorf("%d profiles of none", len(got))
	}
	large, small := NewImpacts(b, make([]ProfileRef, 3)), NewImpacts(b, make([]ProfileRef, 1))
	l.Grew(nil, large, b)
	if l.Grew(large, small, b); l.Bytes() != uint64(small.bytes(b)) || small.bytes(b) >= large.bytes(b) {
		t.Errorf("%d bytes are counted, want %d of %d", l.Bytes(), small.bytes(b), large.bytes(b))
	}
}
