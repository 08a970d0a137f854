package searchapi

import (
	"maps"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"adshard/internal/node/httpapi/api"
	"adshard/search"
)

// TestExplainedPlacement: a placement is explained as it was filled, after those before it, whatever those behind it take.
func TestExplainedPlacement(t *testing.T) {
	a, b, c, d := hit(1, 1, 4_000_000, 360_000), hit(2, 1, 3_000_000, 360_000), hit(3, 3, 2_000_000, 360_000), hit(4, 4, 1_000_000, 360_000)
	explained := func(placements ...string) map[uint64]api.ExplainedKeyword {
		t.Helper()
		answer := whole(a, b, c, d)
		for i := range answer.Hits {
			answer.Hits[i].Filters = 1
		}
		answer.Filtered = []uint64{4}
		f := &fake{answer: answer, explain: &search.Explanation{Total: 4, Width: search.WholeRing(), AppliedClock: 123000,
			Matches: []search.Explained{match(a, 0), match(b, 0), match(c, 0), match(d, 0)}}}
		q := url.Values{"q": {"usb kabel"}, "of_placement": {placements[0]}}
		for _, p := range placements[1:] {
			q.Add("placement", p)
		}
		res, body := get(t, New(configured(f)), "/v1/explain?"+q.Encode())
		if res.StatusCode != http.StatusOK {
			t.Fatalf("%d %s", res.StatusCode, body)
		}
		var got api.ExplainAnswer
		strictly(t, body, &got)
		if got.Placement != placements[0] || got.Slots != 1 {
			t.Errorf("%s has %d places", got.Placement, got.Slots)
		}
		out := map[uint64]api.ExplainedKeyword{}
		for _, k := range got.Matches {
			out[k.KeywordID] = k
		}
		return out
	}
	top, side := `{"id":"top","slots":1}`, `{"id":"side","slots":1}`
	check := func(of string, got map[uint64]api.ExplainedKeyword, keyword uint64, verdict api.Verdict, lostTo uint64, reason string) {
		t.Helper()
		if k := got[keyword]; k.Verdict != verdict || k.LostTo != lostTo || !strings.Contains(k.Reason, reason) {
			t.Errorf("%s, keyword %d: %s, lost to %d: %s", of, keyword, k.Verdict, k.LostTo, k.Reason)
		}
	}
	got := explained("top", top, side)
	check("top", got, 1, api.VerdictWon, 0, "won place 1")
	check("top", got, 2, api.VerdictSuperseded, 1, "as many places")
	check("top", got, 3, api.VerdictLost, 1, "all 1 places")
	got = explained("side", top, side)
	check("side", got, 1, api.VerdictSuperseded, 1, "place 1 of the placement top")
	check("side", got, 2, api.VerdictSuperseded, 1, "as many places")
	check("side", got, 3, api.VerdictWon, 0, "won place 1 at")
	check("side", got, 4, api.VerdictLost, 3, "all 1 places")
}

// TestWrongExplainedPlacements: errors of the page and of the explained placement are reported. An error in another placement does no harm.
func TestWrongExplainedPlacements(t *testing.T) {
	many := strings.Repeat("&placement={}", api.MaxPlacements+1)
	for asked, field := range map[string]string{
		"of_placement=top": "of_placement", "per_advertiser=2": "per_advertiser", many[1:]: "placement",
		`placement={"id":"top"}&of_placement=side`:                             "of_placement",
		`placement={"id":"top","slots":0}`:                                     "slots",
		`placement=top`:                                                        "",
		`placement={"id":"top","reserve_micros":-1}&placement={"id":"side"}`:   "reserve_micros",
		`placement={"id":"top","slots":20}&placement={"id":"side","slots":20}`: "placements",
	} {
		f := &fake{answer: whole(), explain: &search.Explanation{Width: search.WholeRing()}}
		res, body := get(t, New(configured(f)), "/v1/explain?q=a&"+strings.NewReplacer(`"`, "%22", "{", "%7B", "}", "%7D").Replace(asked))
		refused(t, asked, res, body, http.StatusBadRequest, api.ErrorCodeInvalid, field)
	}
	f := &fake{answer: whole(), explain: &search.Explanation{Width: search.WholeRing()}}
	if res, body := get(t, New(configured(f)), "/v1/explain?q=a&of_placement=b&placement=%7B%7D&placement=%7B%22id%22:%22b%22%7D"); res.StatusCode != http.StatusOK {
		t.Errorf("%d %s", res.StatusCode, body)
	}
}

// TestExplainedBlocksOfPlacement: a request for an explanation says which blocks are the placement's and which the request's.
func TestExplainedBlocksOfPlacement(t *testing.T) {
	f := &fake{answer: whole(), explain: &search.Explanation{Width: search.WholeRing()}}
	c := configured(f)
	c.List = func(string) (uint64, error) { return 7, nil }
	q := url.Values{"q": {"a"}, "block_domain": {"a.example"}, "block": {"kids"}, "of_placement": {"b"},
		"placement": {`{"id":"b","block_domains":["b.example"],"block":["casinos"]}`}}
	if res, body := get(t, New(c), "/v1/explain?"+q.Encode()); res.StatusCode != http.StatusOK {
		t.Fatalf("%d %s", res.StatusCode, body)
	}
	of := map[string]bool{}
	for _, b := range f.reasons.Context.Blocks {
		of[strings.Join(b.Domains.List(), " ")] = b.OfPlacement
	}
	for _, l := range f.reasons.Context.Lists {
		of[l.Name] = l.OfPlacement
	}
	if want := map[string]bool{"a.example": false, "b.example": true, "kids": false, "casinos": true}; !maps.Equal(of, want) {
		t.Errorf("%v, want %v", of, want)
	}
	if b := f.asked.Page.Filters[0].Blocks[0]; b.OfPlacement {
		t.Error("the page's own filter was changed")
	}
}
