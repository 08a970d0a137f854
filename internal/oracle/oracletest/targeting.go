package oracletest

import (
	"fmt"
	"strings"
	"time"

	"pgregory.net/rapid"

	"adshard/internal/oracle"
)

// Parents returns the parents of the places in drawn worlds: 1 contains 2 and 3, 2 contains 4, and 5 is separate.
func Parents() map[uint32]uint32 { return map[uint32]uint32{2: 1, 3: 1, 4: 2} }

// Target gives targeting to advertisers, campaigns and groups of a world. About half of the campaigns have none.
func Target(t *rapid.T, w *World) {
	for _, a := range w.Advertisers {
		a.TimeZone = oneOf(t, "zone", []string{"UTC", "Europe/Prague", "America/New_York", "Asia/Kolkata"})
		a.Categories = drawCategories(t)
	}
	for _, c := range w.Campaigns {
		c.Categories = drawCategories(t)
		if rapid.Bool().Draw(t, "without targeting") {
			continue
		}
		c.StartDate = oneOf(t, "start", []string{"", "", "2026-03-01", "2026-04-01"})
		c.EndDate = oneOf(t, "end", []string{"", "", "2026-03-29", "2026-03-28"})
		c.Schedule = oneOf(t, "schedule", []string{
			"", "", `[{"day":"sunday","from":"00:00","to":"24:00","modifier_percent":50}]`,
			`[{"day":"saturday","from":"20:00","to":"24:00"},{"day":"sunday","from":"00:00","to":"12:00","modifier_percent":-33.3}]`,
		})
		c.Locations = drawLocations(t)
		c.LocationPresence, c.ExclusionPresence = rapid.Bool().Draw(t, "presence"), rapid.Bool().Draw(t, "exclusion's presence")
		c.Audiences, c.Sites = drawAudiences(t), drawSites(t)
	}
	for _, it := range w.Items {
		if rapid.IntRange(0, 3).Draw(t, "of the group") == 0 {
			it.Group.Audiences, it.Group.Sites = drawAudiences(t), drawSites(t)
		}
		for i := range it.Ads {
			it.Ads[i].FinalURL = oneOf(t, "ad's URL", []string{"https://a.example/x", "https://shop.a.example/", "https://b.example/"})
		}
	}
}

func drawCategories(t *rapid.T) string {
	return oneOf(t, "categories", []string{"", "", `["alcohol/wine"]`, `["alcohol-free","games"]`})
}

func drawModifier(t *rapid.T) string {
	return oneOf(t, "percent", []string{"", "", `,"modifier_percent":900`, `,"modifier_percent":-90`, `,"modifier_percent":33.3`, `,"modifier_percent":-12.5`})
}

func drawLocations(t *rapid.T) string {
	var list []string
	for id := range 5 {
		switch rapid.IntRange(0, 7).Draw(t, "place") {
		case 0, 1:
			list = append(list, fmt.Sprintf(`{"id":%d%s}`, id+1, drawModifier(t)))
		case 2:
			list = append(list, fmt.Sprintf(`{"id":%d,"exclude":true}`, id+1))
		}
	}
	for _, radius := range []int{1000, 30_000} {
		if rapid.IntRange(0, 3).Draw(t, "circle") == 0 {
			list = append(list, fmt.Sprintf(`{"lat":50,"lon":14,"radius_m":%d%s}`, radius, drawModifier(t)))
		}
	}
	if len(list) == 0 {
		return ""
	}
	return "[" + strings.Join(list, ",") + "]"
}

// lists returns an object of the lists of entries by name. Empty lists are left out.
func lists(names []string, entries map[string][]string) string {
	var out []string
	for _, name := range names {
		if len(entries[name]) > 0 {
			out = append(out, fmt.Sprintf("%q:[%s]", name, strings.Join(entries[name], ",")))
		}
	}
	if len(out) == 0 {
		return ""
	}
	return "{" + strings.Join(out, ",") + "}"
}

func drawAudiences(t *rapid.T) string {
	entries := map[string][]string{}
	for _, id := range []string{"a", "b", "c"} {
		switch rapid.IntRange(0, 7).Draw(t, "segment") {
		case 0:
			entries["target"] = append(entries["target"], fmt.Sprintf(`{"id":%q%s}`, id, drawModifier(t)))
		case 1, 2:
			entries["observe"] = append(entries["observe"], fmt.Sprintf(`{"id":%q%s}`, id, drawModifier(t)))
		case 3:
			entries["exclude"] = append(entries["exclude"], fmt.Sprintf(`{"id":%q}`, id))
		}
	}
	return lists([]string{"target", "observe", "exclude"}, entries)
}

func drawSites(t *rapid.T) string {
	entries := map[string][]string{}
	for _, site := range []string{"news.example", "news.example/sport", "sub.news.example"} {
		switch rapid.IntRange(0, 7).Draw(t, "site") {
		case 0:
			entries["include"] = append(entries["include"], fmt.Sprintf(`{"site":%q%s}`, site, drawModifier(t)))
		case 1:
			entries["exclude"] = append(entries["exclude"], fmt.Sprintf(`{"site":%q}`, site))
		}
	}
	return lists([]string{"include", "exclude"}, entries)
}

// DrawContext draws a request's context for worlds that Target has changed. Its time is near a change to or from
// summer time.
func DrawContext(t *rapid.T) *oracle.Context {
	some := func(label string, list ...string) (out []string) {
		for _, s := range list {
			if rapid.IntRange(0, 2).Draw(t, label) == 0 {
				out = append(out, s)
			}
		}
		return out
	}
	c := &oracle.Context{
		Time:    time.Date(2026, 3, 28, rapid.IntRange(0, 60).Draw(t, "hour"), 15*rapid.IntRange(0, 3).Draw(t, "quarter"), 0, 0, time.UTC),
		Parents: Parents(), Include: rapid.IntRange(0, 4).Draw(t, "include") == 0,
		Languages: some("language", "cs", "en"), Audiences: some("segment", "a", "b", "c"),
		BlockCategories: some("category", "alcohol", "games"), BlockDomains: some("domain", "shop.a.example", "b.example", "keyword.example"),
		BlockUncategorised: rapid.IntRange(0, 5).Draw(t, "uncategorised") == 0,
	}
	for id := range uint32(6) {
		switch rapid.IntRange(0, 9).Draw(t, "place") {
		case 0, 1:
			c.Locations = append(c.Locations, id+1)
		case 2:
			c.Interest = append(c.Interest, id+1)
		}
	}
	if c.HasPoint = rapid.Bool().Draw(t, "point"); c.HasPoint {
		c.Lat, c.Lon = oneOf(t, "lat", []float64{50, 50.1, 51}), 14
	}
	c.Host, c.Path = oneOf(t, "host", []string{"", "news.example", "sub.news.example", "x.example"}), oneOf(t, "path", []string{"", "/sport", "/sport/ski", "/sports"})
	if c.Host == "" {
		c.Path = ""
	}
	if rapid.IntRange(0, 5).Draw(t, "advertisers") == 0 {
		c.BlockAdvertisers = []uint64{1, 3}
	}
	return c
}
