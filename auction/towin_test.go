package auction_test

import (
	"testing"

	"pgregory.net/rapid"

	"adshard/auction"
)

// TestToWin: with this bid a keyword without a place gets one; with one micro less it does not.
func TestToWin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		reserve := rapid.SampledFrom([]uint64{0, 1, 10_000}).Draw(t, "reserve")
		slots := rapid.IntRange(1, 5).Draw(t, "slots")
		all := drawCandidates(t, reserve)
		keyword := rapid.Uint64Range(1, 41).Draw(t, "keyword")
		owner := rapid.Uint64Range(1, 12).Draw(t, "owner")
		modifier := rapid.SampledFrom([]uint64{1000, 1, 333, 10_000}).Draw(t, "modifier")
		quality := rapid.SampledFrom([]uint64{64_000, 500_000, 1_000_000}).Draw(t, "its quality")
		var rest, others, own []auction.Candidate
		for _, c := range all {
			if c.Keyword != keyword {
				rest = append(rest, c)
			}
		}
		for _, i := range auction.Order(rest) {
			if c := rest[i]; c.Advertiser == owner {
				own = append(own, c)
			} else {
				others = append(others, c)
			}
		}
		wins := func(bid uint64) bool {
			effective, _, _ := auction.Rank(bid, modifier, 1, 1000, 1000)
			if effective == 0 || effective < reserve {
				return false
			}
			list := append([]auction.Candidate{{Advertiser: owner, Keyword: keyword, Score: effective * quality, Quality: quality}}, rest...)
			for _, p := range auction.Finish(list, slots, reserve) {
				if p.Index == 0 {
					return true
				}
			}
			return false
		}
		bid, ok := auction.ToWin(keyword, quality, modifier, others, own, slots, reserve)
		switch {
		case !ok && wins(auction.MaxBid):
			t.Fatal("a bid that is allowed wins")
		case ok && (!wins(bid) || bid > auction.MaxBid):
			t.Fatalf("%d does not win", bid)
		case ok && wins(bid-1):
			t.Fatalf("%d is not the least", bid)
		}
	})
	if _, ok := auction.ToWin(1, 0, 1000, nil, nil, 1, 0); ok {
		t.Error("a keyword without quality wins")
	}
	if _, ok := auction.ToWin(1, 1, 0, nil, nil, 1, 0); ok {
		t.Error("a keyword that is not shown wins")
	}
}
