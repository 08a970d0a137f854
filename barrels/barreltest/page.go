package barreltest

import (
	"context"
	"reflect"
	"slices"

	"adshard/auction"
	"adshard/internal/oracle"
	"adshard/search"
	"adshard/search/words"
	"adshard/targeting"
)

// Page adds the placements of an oracle's page to a store's request, and returns the areas that the auction fills. Placements with
// the same conditions share a filter.
func Page(q *search.Request, list []oracle.Placement, perAdvertiser int) (areas []auction.Area) {
	q.Page, q.Slots, q.Reserve = &search.Page{PerAdvertiser: perAdvertiser}, 0, list[0].Reserve
	for _, p := range list {
		f := search.Filter{Reserve: p.Reserve}
		if b := targeting.NewBlocks(p.Advertisers, p.Domains, p.Categories, p.Uncategorised); b != nil {
			f.Blocks = []*targeting.Blocks{b}
		}
		at := slices.IndexFunc(q.Page.Filters, func(o search.Filter) bool { return reflect.DeepEqual(o, f) })
		if at < 0 {
			at = len(q.Page.Filters)
			q.Page.Filters = append(q.Page.Filters, f)
		}
		areas = append(areas, auction.Area{Filter: at, Slots: p.Slots, Reserve: p.Reserve})
		q.Slots, q.Reserve = q.Slots+p.Slots, min(q.Reserve, p.Reserve)
	}
	return areas
}

// SamePage fails if the placements of a page are not filled as by the oracle, with exact counts or without.
func SamePage(t TB, s search.Searcher, o *oracle.Oracle, r oracle.Request, list []oracle.Placement, perAdvertiser int, lex *words.Lexicon) {
	t.Helper()
	want, err := o.Page(r, list, perAdvertiser)
	if err != nil {
		t.Fatalf("oracle: %v", err)
	}
	q := Request(t, r, lex)
	areas := Page(q, list, perAdvertiser)
	for _, exact := range []bool{false, true} {
		q.ExactCounts = exact
		a, err := s.Search(context.Background(), q)
		if err != nil {
			t.Fatalf("search %q: %v", r.Text, err)
		}
		if a.Width != search.WholeRing() || a.Work.BlocksBad != 0 || len(a.Filtered) != len(q.Page.Filters) {
			t.Fatalf("%q: width %v, %d bad, %d filters", r.Text, a.Width, a.Work.BlocksBad, len(a.Filtered))
		}
		sameCounts(t, a, &oracle.Result{Matched: want.Matched, Candidates: want.Candidates}, exact)
		candidates := make([]auction.PageCandidate, len(a.Hits))
		for i := range a.Hits {
			candidates[i] = auction.PageCandidate{Candidate: candidate(&a.Hits[i]), Filters: a.Hits[i].Filters}
		}
		for i, won := range auction.FinishPage(candidates, areas, perAdvertiser) {
			if got, want := lines(a, won), placed(&want.Placements[i]); !slices.Equal(got, want) {
				t.Fatalf("%q (%+v, %+v, %d each, exact %v), placement %d:\n got %v\nwant %v", r.Text, r, list, perAdvertiser, exact, i, got, want)
			}
			n := a.Filtered[areas[i].Filter]
			if all := want.Placements[i].Candidates; exact && n != all || n > all {
				t.Fatalf("%q, exact %v, placement %d: %d of %d candidates", r.Text, exact, i, n, all)
			}
		}
	}
}

// candidate returns a hit as the auction takes it.
func candidate(h *search.Hit) auction.Candidate {
	return auction.Candidate{Advertiser: h.Advertiser, Keyword: h.Keyword, Score: h.Score, Quality: h.Quality}
}
