package search_test

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"adshard/auction"
	"adshard/search"
)

// paged is a candidate of a page.
type paged struct {
	offer
	filters uint8
}

// drawPaged draws candidates of few owners and scores, each keyword once.
func drawPaged(t *rapid.T, filters int) (list []paged) {
	owners := rapid.Uint64Range(1, 9).Draw(t, "owners")
	for keyword := range rapid.Uint64Range(0, 40).Draw(t, "candidates") {
		list = append(list, paged{
			offer{1 + rapid.Uint64Range(0, owners-1).Draw(t, "owner"), rapid.Uint64Range(1, 12).Draw(t, "score"), keyword + 1},
			uint8(rapid.IntRange(0, 1<<filters-1).Draw(t, "filters")),
		})
	}
	return list
}

func finishPage(list []search.Hit, areas []auction.Area, perAdvertiser int) string {
	candidates := make([]auction.PageCandidate, len(list))
	for i, h := range list {
		candidates[i] = auction.PageCandidate{
			Candidate: auction.Candidate{Advertiser: h.Advertiser, Keyword: h.Keyword, Score: h.Score, Quality: h.Quality}, Filters: h.Filters,
		}
	}
	var out []string
	for _, won := range auction.FinishPage(candidates, areas, perAdvertiser) {
		for _, p := range won {
			out = append(out, fmt.Sprint(list[p.Index].Keyword, p.Position, p.Price, p.SetBy))
		}
		out = append(out, "|")
	}
	return fmt.Sprint(out)
}

// TestAPageOfPartsIsThatOfAll checks the promise of serving.md §15: the answers of shards are enough for the same places and
// prices that all candidates in one place would give.
func TestAPageOfPartsIsThatOfAll(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := &search.Request{Page: &search.Page{
			Filters: make([]search.Filter, rapid.IntRange(1, 4).Draw(t, "filters")), PerAdvertiser: rapid.IntRange(1, 4).Draw(t, "per advertiser"),
		}}
		var areas []auction.Area
		for range rapid.IntRange(1, 4).Draw(t, "placements") {
			a := auction.Area{Filter: rapid.IntRange(0, len(r.Page.Filters)-1).Draw(t, "filter"), Slots: rapid.IntRange(1, 3).Draw(t, "slots"), Reserve: 2}
			r.Slots += a.Slots
			areas = append(areas, a)
		}
		var all []search.Hit
		parts := make([][]paged, rapid.IntRange(1, 7).Draw(t, "parts"))
		for _, p := range drawPaged(t, len(r.Page.Filters)) {
			part := rapid.IntRange(0, len(parts)-1).Draw(t, "part")
			parts[part] = append(parts[part], p)
			all = append(all, search.Hit{Advertiser: p.owner, Keyword: p.keyword, Score: p.score, Quality: 1, Filters: p.filters})
		}
		answers := []*search.Answer{nil}
		for _, part := range parts {
			answers = append(answers, pageOf(part, r))
		}
		sum := search.MergePage(answers, r)
		if got, want := finishPage(sum.Hits, areas, r.Page.PerAdvertiser), finishPage(all, areas, r.Page.PerAdvertiser); got != want {
			t.Fatalf("%+v of %d places each:\n got %s\nwant %s", areas, r.Page.PerAdvertiser, got, want)
		}
		kept, _ := r.Kept()
		for f, n := range sum.Filtered {
			of := 0
			for _, h := range sum.Hits {
				of += int(h.Filters >> f & 1)
			}
			if n != uint64(len(parts)) || of > kept {
				t.Fatalf("filter %d: %d candidates, %d hits of at most %d", f, n, of, kept)
			}
		}
	})
}

// pageOf returns the answer of a shard.
func pageOf(part []paged, r *search.Request) *search.Answer {
	a := &search.Answer{Shards: 1, Answered: 1, CountsExact: true}
	k, each := r.Kept()
	for f := range r.Page.Filters {
		a.Filtered = append(a.Filtered, 1)
		var offers []offer
		for _, p := range part {
			if p.filters>>f&1 != 0 {
				offers = append(offers, p.offer)
			}
		}
		for _, o := range slowTopEach(offers, k, each) {
			i := slices.IndexFunc(a.Hits, func(h search.Hit) bool { return h.Keyword == o.keyword })
			if i < 0 {
				i = len(a.Hits)
				a.Hits = append(a.Hits, search.Hit{Advertiser: o.owner, Keyword: o.keyword, Score: o.score, Quality: 1})
			}
			a.Hits[i].Filters |= 1 << f
		}
	}
	return a
}
