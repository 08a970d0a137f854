package console_test

import (
	"fmt"
	"strings"
	"testing"

	"adshard/backend"
	"adshard/places"
)

// abroad is a shop whose campaigns define where, when and for whom they are shown.
const abroad = `
{"type":"advertiser","name":"Acme","time_zone":"Europe/Prague","categories":["shops"]}
{"type":"campaign","advertiser":"Acme","name":"All","start_date":"2026-03-31","end_date":"2026-12-24","languages":["cs","en"],
 "schedule":[{"day":"monday","from":"08:00","to":"18:00","modifier_percent":20},{"day":"tuesday","from":"08:00","to":"18:00","modifier_percent":20},{"day":"wednesday","from":"08:00","to":"18:00","modifier_percent":20},{"day":"saturday","from":"00:00","to":"24:00"},{"day":"sunday","from":"00:00","to":"24:00"}],
 "locations":[{"id":2203,"modifier_percent":-10},{"id":9000001},{"lat":50.087,"lon":-14.421,"radius_m":15000,"modifier_percent":12.5},{"id":2276,"exclude":true},{"lat":1,"lon":2,"radius_m":500,"exclude":true}],
 "location_exclusion_method":"presence","categories":["alcohol/wine","toys"],
 "audiences":{"target":[{"id":"<b>"},{"id":"buyers","modifier_percent":30}],"observe":[{"id":"vip","modifier_percent":100}],"exclude":[{"id":"staff"}]},
 "sites":{"include":[{"site":"example.com","modifier_percent":10},{"site":"news.example/sport"}],"exclude":[{"site":"example.com/forum"}]}}
{"type":"campaign","advertiser":"Acme","name":"Out","start_date":"2026-03-31","locations":[{"id":2276,"exclude":true}],"schedule":[DAYS]}
{"type":"campaign","advertiser":"Free","name":"Plain"}
{"type":"group","advertiser":"Acme","campaign":"All","name":"Own","audiences":{"observe":[{"id":"vip"}]},"sites":{"exclude":[{"site":"a.example"}]}}
{"type":"group","advertiser":"Acme","campaign":"All","name":"Same"}
{"type":"group","advertiser":"Free","campaign":"Plain","name":"Plain"}
`

// abroadLines returns the lines of `abroad`.
func abroadLines() string {
	var days []string
	for _, d := range []string{"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"} {
		days = append(days, fmt.Sprintf(`{"day":"%s","from":"06:15","to":"24:00"}`, d))
	}
	lines := strings.ReplaceAll(abroad, "\n ", " ")
	return strings.ReplaceAll(lines, "DAYS", strings.Join(days, ","))
}

// TestTargetingIsTold: pages of campaigns and ad groups describe in plain sentences where, when and for whom they are shown.
// Places have the names of the current table of places.
func TestTargetingIsTold(t *testing.T) {
	db, with := fill(t, strings.Replace(abroadLines(), `{"id":9000001},`, "", 1), nil)
	b := &browser{t: t, port: newPort(t, false, with)}
	has(t, b.get("/console/data/campaigns/1"), 200,
		"Shown from 2026-03-31 to 2026-12-24, both days included (Europe/Prague).",
		"Shown Monday to Wednesday 08:00–18:00 (Europe/Prague), bids &#43;20 %; Saturday and Sunday, all day.",
		"Only in Czechia (bids −10 %) and within 15 km of 50.087, −14.421 (bids &#43;12.5 %); not in Germany nor within 500 m of 1, 2.",
		"What counts for showing it is where the user is, and which places the query is about; for not showing it, where the user is.",
		"For users of the languages cs or en, and for those whose language is not known.",
		"Only for users of the audience segments “&lt;b&gt;” or “buyers” (bids &#43;30 %).",
		"Observed are users of the audience segment “vip” (bids &#43;100 %); this restricts nothing.",
		"Never for users of the audience segment “staff”.",
		"Only on pages of example.com (bids &#43;10 %) or news.example/sport.", "Not on pages of example.com/forum.",
		"Where these overlap, the more specific entry decides: the longer host, then the longer path, and the exclusion if both are equal.",
		"Not on pages that block the categories alcohol/wine, shops or toys.")
	w := b.get("/console/data/campaigns/1")
	lacks(t, w, "radius_m", "2203", "location_method", "Always, everywhere")
	has(t, b.get("/console/data/campaigns/2"), 200, "Shown from 2026-03-31 on (Europe/Prague).", "Shown every day 06:15–24:00 (Europe/Prague).", "Everywhere but in Germany.",
		"What counts is where the user is, and which places the query is about.")
	has(t, b.get("/console/data/campaigns/3"), 200, "Always, everywhere and for everyone.")
	has(t, b.get("/console/data/advertisers/1"), 200, "Not on pages that block the category shops.")

	w = b.get("/console/data/groups/1")
	has(t, w, 200, "Observed are users of the audience segment “vip”; this restricts nothing.", "Not on pages of a.example.", "From its campaign", "Only in Czechia")
	lacks(t, w, "staff", "example.com", "overlap")
	has(t, b.get("/console/data/groups/2"), 200, "As its campaign says.", "“staff”", "Not on pages of example.com/forum.")
	has(t, b.get("/console/data/groups/3"), 200, "As its campaign says.", "Nothing: always, everywhere and for everyone.")

	table, _ := places.Countries().With([]places.Row{{ID: 2203, Name: "Czech <Lands>", Country: "CZ"}})
	if _, err := db.DB.SaveDocument(t.Context(), backend.PlacesDocument, 0, backend.PackDocument(table.Text())); err != nil {
		t.Fatal(err)
	}
	has(t, b.get("/console/data/campaigns/1"), 200, "Only in Czech &lt;Lands&gt; (bids −10 %)")
}

// TestManyPlacesAreTold: a sentence lists only the first of many places.
func TestManyPlacesAreTold(t *testing.T) {
	var list []string
	for r := range places.Countries().All() {
		list = append(list, fmt.Sprintf(`{"id":%d}`, r.ID))
	}
	line := `{"type":"campaign","advertiser":"Acme","name":"Many","locations":[{"lat":1,"lon":2,"radius_m":500},` + strings.Join(list, ",") + `]}`
	_, with := fill(t, line, nil)
	b := &browser{t: t, port: newPort(t, false, with)}
	has(t, b.get("/console/data/campaigns/1"), 200, "Only in Afghanistan, Albania, ", fmt.Sprintf(" and %d more and within 500 m of 1, 2.", len(list)-20))
}
