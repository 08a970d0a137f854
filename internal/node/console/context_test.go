package console_test

import (
	"fmt"
	"html"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"adshard/backend"
	"adshard/internal/node/nodetest"
	"adshard/places"
	"adshard/search"
	"adshard/targeting"
)

// twoPragues gives a database a table with two places of the same name.
func twoPragues(t testing.TB, db *nodetest.Database) {
	t.Helper()
	table, refused := places.Countries().With([]places.Row{
		{ID: 1003803, Name: "Prague", CanonicalName: "Prague,Prague,Czechia", Parent: 2203, Country: "CZ", Type: "City"},
		{ID: 1025929, Name: "Prague", CanonicalName: "Prague,Oklahoma,United States", Parent: 2840, Country: "US", Type: "City"},
	})
	if len(refused) > 0 {
		t.Fatal(refused)
	}
	if _, err := db.DB.SaveDocument(t.Context(), backend.PlacesDocument, 0, backend.PackDocument(table.Text())); err != nil {
		t.Fatal(err)
	}
}

// TestQueryWithAContext: the form contains where, when and for whom to search. Places can be given by name; a name that several places
// share must be chosen from a list.
func TestQueryWithAContext(t *testing.T) {
	db, with := fill(t, shop, nil)
	twoPragues(t, db)
	p := newPort(t, false, with)
	b := &browser{t: t, port: p}
	ask := func(q url.Values) string { q.Set("q", "usb"); return "/console/query?" + q.Encode() }
	w := b.get(ask(url.Values{
		"place": {"czechia; 77"}, "interest": {"Prague,Oklahoma,United States"}, "point": {"50.087, 14.421"}, "time": {"2026-03-31T08:00:00+02:00"},
		"languages": {"Czech, en"}, "audiences": {"age: 25-34; <b>"}, "site": {"shop.example/cameras"}, "advertisers": {"7 8"},
		"domains": {"casino.example"}, "categories": {"alcohol/wine"}, "uncategorised": {"on"},
	}))
	has(t, w, 200, `<details class="context" open>`, "The user is in Czechia (place 2203).", "The query is about Prague,Oklahoma,United States (place 1025929).",
		"does not hold place 77", `value="age: 25-34; &lt;b&gt;"`, "places of table")
	c := p.found.asked.Load().Context
	got := fmt.Sprintln(c.Point, c.Time.Format(time.RFC3339), c.Languages, c.Audiences, c.Site, c.Blocks[0].Advertisers.Len(), c.Blocks[0].Domains.List(), c.Blocks[0].Categories.List(), c.Blocks[0].Uncategorised)
	if want := "&{50087000 14421000} 2026-03-31T06:00:00Z [cs en] [<b> age: 25-34] shop.example/cameras 2 [casino.example] [alcohol/wine] true\n"; got != want {
		t.Errorf("%s, not %s", got, want)
	}
	var where []string
	for _, place := range c.Places {
		where = append(where, fmt.Sprint(place.ID, place.Presence, place.Interest))
	}
	if got := strings.Join(where, ", "); got != "77 true false, 2203 true false, 1025929 false true" {
		t.Errorf("places %s", got) // the search uses the built-in table of places
	}

	lacks(t, b.get("/console/query"), `class="context" open`)
	p.found.asked.Store(nil)
	w = b.get(ask(url.Values{"place": {"2203; prague"}, "site": {"a.example"}}))
	has(t, w, 400, "It is not clear which places are meant", "Which “prague”?", "Prague,Prague,Czechia", "City 1025929")
	if p.found.asked.Load() != nil {
		t.Error("it was searched")
	}
	link := regexp.MustCompile(`<a href="([^"]*)">Prague,Prague,Czechia`).FindStringSubmatch(w.Body.String())
	has(t, b.get(html.UnescapeString(link[1])), 200, `value="2203; 1003803"`, `value="a.example"`)
	has(t, b.get(ask(url.Values{"place": {"nowhere at all"}})), 400, "Which “nowhere at all”?", "No place has these words")
	for field, says := range map[string]string{"time": "RFC 3339", "point": "degrees", "languages": "unknown language", "block": "no block list", "site": "site", "advertisers": "advertiser"} {
		has(t, b.get(ask(url.Values{field: {"x y"}})), 400, `role="alert"`, says)
	}
	has(t, (&browser{t: t, port: newPort(t, false)}).get(ask(url.Values{"place": {"czechia"}})), 400, "give its number")
}

// TestVerdictsOfTargeting: the waterfall explains the verdicts of targeting and shows the names of places. An answer without ads says why.
func TestVerdictsOfTargeting(t *testing.T) {
	_, with := fill(t, shop, nil)
	p := newPort(t, false, with)
	b := &browser{t: t, port: p}
	won := &p.found.matches[0]
	won.Context = &targeting.Outcome{Factors: targeting.Factors{Schedule: 1200, Location: 900, Audience: 1000, Site: 1000}}
	won.Device, won.Clamped = &search.DeviceFactor{Permille: 9500, OfGroup: true}, true
	won.Context.By[0], won.Context.By[1] = targeting.Criterion{Text: "monday 08:00-18:00"}, targeting.Criterion{Text: "place 2203", OfGroup: true}
	for i, v := range []search.Verdict{search.LocationMissed, search.LocationMissed, search.LocationExcluded, search.OffSchedule, search.Blocked} {
		m := match(hit(uint64(20+i), uint64(20+i), 1), v)
		m.Context = &targeting.Outcome{Verdict: targeting.LocationExcluded, Criterion: targeting.Criterion{Text: "place 2276"}}
		p.found.matches = append(p.found.matches, m)
	}
	w := b.get("/console/query?q=usb")
	has(t, w, 200, "device &#43;850 % (desktop, the ad group’s)", "together &#43;900 %, the most there is", "schedule &#43;20 % (monday 08:00-18:00)", "location −10 % (Czechia (place 2203), the ad group’s)", "excludes Germany (place 2276)",
		`are for this place<br><span class="small">2 location_missed: the campaign is targeted at places`, "1 location_excluded: ",
		`are for this hour<br><span class="small">1 off_schedule: `, `are not blocked by this page<br><span class="small">1 blocked: `)
	rows := regexp.MustCompile(`(?s)<th scope="row">are for this place.*?<td data-l="Left" class="n">(\d+)</td>.*?<td data-l="Gone" class="n">(−\d+)</td>`).FindStringSubmatch(w.Body.String())
	if rows == nil || rows[1] != "5" || rows[2] != "−3" {
		t.Errorf("the row of places is %q", rows)
	}
	p.found.hits, p.found.matches = nil, p.found.matches[4:]
	has(t, b.get("/console/query?q=usb"), 200, "No ad. Of the keywords that match:", `<li>2 <span class="word">location_missed</span> the campaign is targeted at places`)
}
