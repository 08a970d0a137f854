package auction_test

import (
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"adshard/auction"
)

// drawCandidates draws candidates of few advertisers with few distinct scores, so that ties are
// frequent. Scores are B × Q, with B at least the reserve.
func drawCandidates(t *rapid.T, reserve uint64) []auction.Candidate {
	n := rapid.IntRange(0, 40).Draw(t, "candidates")
	ids := rapid.Permutation(upTo(n)).Draw(t, "keyword ids")
	list := make([]auction.Candidate, n)
	for i := range list {
		b := reserve + rapid.SampledFrom([]uint64{0, 1, 2, 1000, 1_000_000, 2_000_000, 100_000_000_000 - 20_000}).Draw(t, "bid")
		q := rapid.SampledFrom([]uint64{64_000, 500_000, 1_000_000, 427_500}).Draw(t, "quality")
		list[i] = auction.Candidate{
			Advertiser: rapid.Uint64Range(1, 12).Draw(t, "advertiser"),
			Keyword:    ids[i], Score: b * q, Quality: q,
		}
	}
	return list
}

func upTo(n int) []uint64 {
	ids := make([]uint64, n)
	for i := range ids {
		ids[i] = uint64(i + 1)
	}
	return ids
}

// better reports whether a comes before b in the order of serving.md §5.2.
func better(a, b auction.Candidate) bool {
	return a.Score > b.Score || a.Score == b.Score && a.Keyword < b.Keyword
}

// slowFinish repeatedly takes the best remaining advertiser.
func slowFinish(list []auction.Candidate, slots int, reserve uint64) (won []result) {
	var order []auction.Candidate
	taken := map[uint64]bool{}
	for {
		best := -1
		for i, c := range list {
			if !taken[c.Advertiser] && (best < 0 || better(c, list[best])) {
				best = i
			}
		}
		if best < 0 {
			break
		}
		order = append(order, list[best])
		taken[list[best].Advertiser] = true
	}
	for i := 0; i < slots && i < len(order); i++ {
		r := result{keyword: order[i].Keyword, position: i + 1, price: reserve}
		if i+1 < len(order) {
			price, rest := new(big.Int).DivMod(
				new(big.Int).SetUint64(order[i+1].Score), new(big.Int).SetUint64(order[i].Quality), new(big.Int))
			if rest.Sign() > 0 {
				price.Add(price, big.NewInt(1))
			}
			if price.Cmp(new(big.Int).SetUint64(reserve)) > 0 {
				r.price, r.setBy = price.Uint64(), order[i+1].Keyword
			}
		}
		won = append(won, r)
	}
	return won
}

type result struct {
	keyword  uint64
	position int
	price    uint64
	setBy    uint64
}

func finish(list []auction.Candidate, slots int, reserve uint64) (won []result) {
	for _, p := range auction.Finish(list, slots, reserve) {
		won = append(won, result{list[p.Index].Keyword, p.Position, p.Price, p.SetBy})
	}
	return won
}

func drawReserve(t *rapid.T) uint64 {
	return rapid.SampledFrom([]uint64{10_000, 0, 1}).Draw(t, "reserve")
}

func TestFinishIsTheOracles(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		reserve := drawReserve(t)
		list := drawCandidates(t, reserve)
		slots := rapid.IntRange(1, 20).Draw(t, "slots")
		got, want := finish(list, slots, reserve), slowFinish(list, slots, reserve)
		if !slices.Equal(got, want) {
			t.Fatalf("got %+v\nwant %+v", got, want)
		}
		for i, p := range auction.Finish(list, slots, reserve) {
			c := list[p.Index]
			if b := c.Score / c.Quality; p.Price > b || p.Price < reserve {
				t.Fatalf("place %d: price %d is not between %d and B %d", i+1, p.Price, reserve, b)
			}
		}
	})
}

// TestPlacementDoesNotMatter: candidates spread over any number of slaves, each answering with its
// best slots+1 advertisers, give the same result as a single node.
func TestPlacementDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		reserve := drawReserve(t)
		list := drawCandidates(t, reserve)
		slots := rapid.IntRange(1, 20).Draw(t, "slots")
		slaves := make([][]auction.Candidate, rapid.IntRange(1, 7).Draw(t, "slaves"))
		for _, c := range list {
			s := rapid.IntRange(0, len(slaves)-1).Draw(t, "slave")
			slaves[s] = append(slaves[s], c)
		}
		var gathered []auction.Candidate
		for _, s := range slaves {
			order := auction.Order(s)
			for _, i := range order[:min(slots+1, len(order))] {
				gathered = append(gathered, s[i])
			}
		}
		got, want := finish(gathered, slots, reserve), finish(list, slots, reserve)
		if !slices.Equal(got, want) {
			t.Fatalf("spread over slaves %+v\none node %+v", got, want)
		}
	})
}

func TestFinishTable(t *testing.T) {
	const reserve = 10_000
	c := func(advertiser, keyword, b, q uint64) auction.Candidate {
		return auction.Candidate{Advertiser: advertiser, Keyword: keyword, Score: b * q, Quality: q}
	}
	for name, test := range map[string]struct {
		list  []auction.Candidate
		slots int
		want  []result
	}{
		"none":               {nil, 4, nil},
		"alone pays reserve": {[]auction.Candidate{c(1, 7, 2_000_000, 500_000)}, 4, []result{{7, 1, reserve, 0}}},
		"no slots":           {[]auction.Candidate{c(1, 7, 2_000_000, 500_000)}, 0, nil},
		"the next beyond the slots sets the price": {
			[]auction.Candidate{c(1, 7, 2_000_000, 500_000), c(2, 8, 1_000_000, 500_000)}, 1,
			[]result{{7, 1, 1_000_000, 8}},
		},
		"own second keyword sets no price": {
			[]auction.Candidate{c(1, 7, 2_000_000, 500_000), c(1, 8, 1_999_999, 500_000)}, 4,
			[]result{{7, 1, reserve, 0}},
		},
		"equal: the lowest keyword id": {
			[]auction.Candidate{c(2, 9, 1_000_000, 500_000), c(1, 8, 1_000_000, 500_000), c(1, 7, 1_000_000, 500_000)}, 4,
			[]result{{7, 1, 1_000_000, 9}, {9, 2, reserve, 0}},
		},
		"rounded up": {
			[]auction.Candidate{c(1, 7, 2_000_000, 1_000_000), c(2, 8, 1_000_001, 427_500)}, 1,
			[]result{{7, 1, 427_501, 8}}, // 427,500.4275
		},
	} {
		if got := finish(test.list, test.slots, reserve); !slices.Equal(got, test.want) {
			t.Errorf("%s: got %+v, want %+v", name, got, test.want)
		}
	}
}

func BenchmarkFinish(b *testing.B) {
	list := make([]auction.Candidate, 63)
	for i := range list {
		list[i] = auction.Candidate{Advertiser: uint64(i % 50), Keyword: uint64(i), Score: uint64(i*7919%1000) << 20, Quality: 500_000}
	}
	b.ReportAllocs()
	for b.Loop() {
		auction.Finish(list, 20, 10_000)
	}
}
