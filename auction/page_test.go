package auction_test

import (
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"adshard/auction"
)

// TestAPageOfOneAreaIsFinish checks serving.md §15.7.
func TestAPageOfOneAreaIsFinish(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var plain []auction.Candidate
		var page []auction.PageCandidate
		for keyword := range rapid.Uint64Range(0, 20).Draw(t, "candidates") {
			quality := rapid.Uint64Range(1, 1000).Draw(t, "quality")
			c := auction.Candidate{Advertiser: rapid.Uint64Range(1, 7).Draw(t, "advertiser"), Keyword: keyword + 1, Quality: quality, Score: quality * rapid.Uint64Range(10, 20).Draw(t, "bid")}
			plain, page = append(plain, c), append(page, auction.PageCandidate{Candidate: c, Filters: 1})
		}
		slots := rapid.IntRange(1, 20).Draw(t, "slots")
		got, want := auction.FinishPage(page, []auction.Area{{Slots: slots, Reserve: 10}}, 1)[0], auction.Finish(plain, slots, 10)
		if len(got)+len(want) > 0 && !reflect.DeepEqual(got, want) {
			t.Fatalf("%v, want %v", got, want)
		}
	})
}

func TestFinishPage(t *testing.T) {
	c := func(advertiser, keyword, bid uint64, filters uint8) auction.PageCandidate {
		return auction.PageCandidate{Candidate: auction.Candidate{Advertiser: advertiser, Keyword: keyword, Score: bid * 1000, Quality: 1000}, Filters: filters}
	}
	candidates := []auction.PageCandidate{c(1, 1, 100, 3), c(1, 2, 90, 2), c(2, 3, 80, 3), c(3, 4, 60, 2), c(2, 5, 55, 1)}
	areas := []auction.Area{{Filter: 0, Slots: 1, Reserve: 10}, {Filter: 1, Slots: 3, Reserve: 70}}
	for per, want := range map[int][][]auction.Placement{
		1: {{{Index: 0, Position: 1, Price: 80, SetBy: 3}}, {{Index: 2, Position: 1, Price: 70}, {Index: 3, Position: 2, Price: 70}}},
		2: {{{Index: 0, Position: 1, Price: 80, SetBy: 3}}, {{Index: 1, Position: 1, Price: 80, SetBy: 3}, {Index: 2, Position: 2, Price: 70}, {Index: 3, Position: 3, Price: 70}}},
	} {
		if got := auction.FinishPage(candidates, areas, per); !reflect.DeepEqual(got, want) {
			t.Errorf("%d places each: %v, want %v", per, got, want)
		}
	}
}
