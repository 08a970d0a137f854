package console_test

import (
	"net/url"
	"strings"
	"testing"

	"adshard/search"
)

// TestQueryWithPlacements: each placement of the form is filled and explained separately, or has its error beside it. Rows can be added and
// removed.
func TestQueryWithPlacements(t *testing.T) {
	p := newPort(t, false)
	b := &browser{t: t, port: p}
	form := func(more ...string) string {
		q := url.Values{"q": {"usb"}, "slots": {"4"}, "per_advertiser": {"2"}, "placement_id": {"top", "side <", "", "low"}, "placement_slots": {"1", "", "", "x"},
			"placement_reserve": {"0.05", "", "", ""}, "placement_block": {"", "", "", "kids"}}
		for i := 0; i+1 < len(more); i += 2 {
			q.Set(more[i], more[i+1])
		}
		return "/console/query?" + q.Encode()
	}
	w := b.get(form())
	has(t, w, 200, "Placement top</h2>", "Placement side &lt;</h2>", "Placement low</h2>\n<p class=\"notice bad\">Not filled: slots must be a whole number",
		"The auction of top", "The auction of side &lt;", `<tr id="k1-1">`, `<tr id="k2-2">`, "it has place 1 of the placement top", "may have a place besides the earlier ones",
		`name="placement_reserve" value="0.05"`, `name="per_advertiser" type="number" min="1" max="20" value="2"`, "slave-0</th>")
	lacks(t, w, "The auction of low", "are their advertiser")
	r := p.found.asked.Load()
	if r.Page == nil || r.Page.PerAdvertiser != 2 || len(r.Page.Filters) != 2 || r.Page.Filters[0].Reserve != 50_000 || r.Page.Filters[1].Reserve != 10_000 || r.Slots != 5 {
		t.Errorf("asked %+v, %+v", r, r.Page)
	}
	has(t, b.get(form("keyword", "7")), 200, "Why not 7 in top", "Why not 7 in side &lt;")
	has(t, b.get(form("placement_reserve", "0.0000001")), 400, `role="alert"`, "0.0000001&#34; is not an amount")

	p.found.asked.Store(nil)
	added := b.get(form("add", "1"))
	has(t, added, 200, `id="placement_id4"`, `name="add"`)
	removed := b.get(form("remove", "1"))
	has(t, removed, 200, `id="placement_id2"`)
	lacks(t, removed, "side &lt;", `id="placement_id3"`)
	if p.found.asked.Load() != nil {
		t.Error("a row more or less is a search")
	}
	full := b.get("/console/query?q=usb&add=1" + strings.Repeat("&placement_id=a", search.MaxPlacements-1))
	has(t, full, 200, `id="placement_id7"`)
	lacks(t, full, `name="add"`)
	lacks(t, b.get("/console/query?q=usb"), `name="remove"`, "of_placement", "scorer")
}

// TestScorerInTheWaterfall: with a scoring model, keywords show their factor and its parts. Keywords with a factor of 0 leave the auction.
func TestScorerInTheWaterfall(t *testing.T) {
	p := newPort(t, false)
	p.found.scorer = search.ScorerID{0xab, 0xcd}
	p.found.matches[0].Scored = &search.Scored{Factor: 1250, Parts: []search.ScoredPart{{Feature: "bias", Weight: -20}, {Feature: "match", Value: "exact", Weight: 64}}}
	out := match(hit(30, 30, 1), search.ScoredOut)
	out.Scored = &search.Scored{}
	p.found.matches = append(p.found.matches, out)
	has(t, (&browser{t: t, port: p}).get("/console/query?q=usb"), 200, "scored by model abcd", "scorer &#43;25 % (bias −20, match exact &#43;64)", "scorer −100 %<",
		`have a factor above 0<br><span class="small">1 scored_out: the scorer’s factor is 0`)
}
