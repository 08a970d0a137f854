package search_test

import (
	"cmp"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"adshard/search"
)

type offer struct{ owner, score, keyword uint64 }

// drawOffers draws offers of few owners and scores. A keyword belongs to one owner and may occur
// again with another score.
func drawOffers(t *rapid.T) []offer {
	n := rapid.SampledFrom([]int{20, 5, 60, 1, 0}).Draw(t, "number of offers")
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) offer {
		keyword := rapid.Uint64Range(1, 40).Draw(t, "keyword")
		return offer{
			owner: keyword % 11, keyword: keyword,
			score: rapid.SampledFrom([]uint64{3, 1, 2, 4, 5, 0, math.MaxUint64}).Draw(t, "score"),
		}
	}), n, n).Draw(t, "offers")
}

func inOrder(a, b offer) int {
	return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.keyword, b.keyword))
}

// slowTop sorts all offers.
func slowTop(offers []offer, k int) (top []offer) { return slowTopEach(offers, k, 1) }

// slowTopEach is slowTop with several hits of each owner.
func slowTopEach(offers []offer, k, each int) (top []offer) {
	sorted := slices.SortedFunc(slices.Values(offers), inOrder)
	of := map[uint64]int{}
	for _, o := range sorted {
		known := slices.ContainsFunc(top, func(x offer) bool { return x.keyword == o.keyword })
		if !known && of[o.owner] < each && len(top) < k {
			top = append(top, o)
			of[o.owner]++
		}
	}
	return top
}

func kept(top *search.Top[int]) (list []offer) {
	for _, r := range top.Ranked() {
		list = append(list, offer{r.Owner, r.Score, r.Keyword})
	}
	return list
}

func TestTopIsTheOracles(t *testing.T) {
	var top search.Top[int] // reused: earlier content must not show
	rapid.Check(t, func(t *rapid.T) {
		offers := drawOffers(t)
		k, each := rapid.IntRange(1, 21).Draw(t, "k"), rapid.IntRange(1, 4).Draw(t, "each")
		if top.ResetEach(k, each); each == 1 {
			top.Reset(k)
		}
		for i, o := range offers {
			threshold := top.Threshold()
			lost := top.Lost(o.score, o.keyword)
			wanted := top.Wants(o.owner, o.score, o.keyword)
			if top.Offer(o.owner, o.score, o.keyword, i) != wanted {
				t.Fatalf("offer %d: Wants said %v", i, wanted)
			}
			if lost && wanted {
				t.Fatalf("offer %d was lost and was taken", i)
			}
			if !lost && !wanted && !slices.ContainsFunc(offers[:i], func(p offer) bool { return p.owner == o.owner }) {
				t.Fatalf("offer %d of a new owner was not lost and was not taken", i)
			}
			if wanted && o.score < threshold {
				t.Fatalf("offer %d below the threshold %d was taken", i, threshold)
			}
			if got, want := kept(&top), slowTopEach(offers[:i+1], k, each); !slices.Equal(got, want) {
				t.Fatalf("after %d offers: got %v, want %v", i+1, got, want)
			}
		}
		for _, r := range top.Ranked() {
			if o := offers[r.Value]; o.keyword != r.Keyword || o.score != r.Score {
				t.Fatalf("keyword %d has the value of %d", r.Keyword, o.keyword)
			}
		}
	})
}

func TestTopDoesNotAllocate(t *testing.T) {
	var top search.Top[[4]uint64]
	top.Reset(21)
	run := func() {
		top.Reset(21)
		for i := range uint64(100) {
			top.Offer(i%30, i*7919%64, i, [4]uint64{})
		}
	}
	run()
	if n := testing.AllocsPerRun(100, run); n != 0 {
		t.Fatalf("%v allocations", n)
	}
}

// TestMergeIsOneSearch: answers of parts merge to the answer of all.
func TestMergeIsOneSearch(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		offers := drawOffers(t)
		slices.SortFunc(offers, inOrder)
		// Each keyword has only its best offer, since parts do not overlap.
		seen := map[uint64]bool{}
		offers = slices.DeleteFunc(offers, func(o offer) bool {
			again := seen[o.keyword]
			seen[o.keyword] = true
			return again
		})
		k := rapid.IntRange(1, 21).Draw(t, "k")
		parts := make([][]offer, rapid.IntRange(1, 7).Draw(t, "parts"))
		for _, o := range offers {
			p := rapid.IntRange(0, len(parts)-1).Draw(t, "part")
			parts[p] = append(parts[p], o)
		}
		answers := []*search.Answer{nil} // the nil answer did not arrive
		for i, part := range parts {
			answers = append(answers, answerOf(part, k, uint64(10+i)))
		}
		sum := search.Merge(answers, k)
		var got []offer
		for _, h := range sum.Hits {
			got = append(got, offer{h.Advertiser, h.Score, h.Keyword})
		}
		if want := slowTop(offers, k); !slices.Equal(got, want) {
			t.Fatalf("got %v, want %v", got, want)
		}
		if sum.Matched != uint64(len(offers)) || sum.AppliedClock != 10 || sum.Shards != len(parts) ||
			sum.Width != (search.Width{Lo: uint64(len(parts))}) || !sum.CountsExact {
			t.Fatalf("sums are wrong: %+v", sum)
		}
	})
}

func answerOf(part []offer, k int, clock uint64) *search.Answer {
	a := &search.Answer{
		Matched: uint64(len(part)), CountsExact: true, AppliedClock: clock, Shards: 1, Answered: 1,
		Width: search.Width{Lo: 1}, View: 3,
	}
	for _, o := range slowTop(part, k) {
		a.Hits = append(a.Hits, search.Hit{Advertiser: o.owner, Score: o.score, Keyword: o.keyword})
	}
	return a
}

func TestMergeOfNothing(t *testing.T) {
	sum := search.Merge([]*search.Answer{nil, nil}, 5)
	if len(sum.Hits) != 0 || sum.AppliedClock != 0 || sum.Answered != 0 || sum.CountsExact {
		t.Fatalf("%+v", sum)
	}
}

func BenchmarkTop(b *testing.B) {
	var top search.Top[int]
	b.ReportAllocs()
	for b.Loop() {
		top.Reset(5)
		for i := range uint64(100) {
			top.Offer(i%30, i*7919%64, i, 0)
		}
	}
}
