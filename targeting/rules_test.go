package targeting

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"adshard/targeting/zone"
)

// said is targeting in the form of serving.md §13.
type said struct {
	start, end, schedule, locations, audiences, sites string
	presence, exclusionPresence                       bool // methods
	languages                                         []string
	categories, advertisers                           []string // of the campaign, and of its advertiser
	groupAudiences, groupSites                        string
	zone                                              string // "": UTC
}

func (s *said) compiled(t *testing.T) (c *Campaign, g *Group, owner *Owner) {
	t.Helper()
	must := func(err error) {
		if err != nil {
			t.Helper()
			t.Fatal(err)
		}
	}
	raw := func(text string) []byte {
		if text == "" {
			return nil
		}
		return []byte(text)
	}
	all, err := &Targeting{Languages: s.languages, Categories: s.categories}, error(nil)
	all.Start, _ = ParseDate(s.start)
	all.End, _ = ParseDate(s.end)
	all.Schedule, err = ParseSchedule(raw(s.schedule))
	must(err)
	all.Locations, err = ParseLocations(raw(s.locations))
	must(err)
	all.Audiences, err = ParseAudiences(raw(s.audiences))
	must(err)
	all.Sites, err = ParseSites(raw(s.sites))
	must(err)
	if s.presence {
		all.Targets = Presence
	}
	if s.exclusionPresence {
		all.Exclusion = Presence
	}
	a, err := ParseAudiences(raw(s.groupAudiences))
	must(err)
	sites, err := ParseSites(raw(s.groupSites))
	must(err)
	name := s.zone
	if name == "" {
		name = "UTC"
	}
	z, err := zone.Load(name)
	must(err)
	return Compile(all), CompileGroup(&a, &sites), &Owner{ID: 7, Zone: z, Categories: s.advertisers}
}

// judged returns the verdict, or the factors in permille.
func (s *said) judged(t *testing.T, at *Context) string {
	t.Helper()
	c, g, owner := s.compiled(t)
	o := NewJudge(at).Group(c, g, owner)
	if o.Verdict != Pass {
		return [...]string{"", "not_started", "ended", "off_schedule", "location_excluded", "location_unknown", "location_missed", "language_missed",
			"audience_excluded", "audience_missed", "site_excluded", "site_missed", "blocked"}[o.Verdict]
	}
	if o.Factors == neutral {
		return "passes"
	}
	return strings.Trim(fmt.Sprint(o.Factors.All()), "[]")
}

// The places of these tests: 1 contains 2 and 3; 2 contains 4.
func presence(ids ...uint32) (list []Place) { return placesOf(true, ids) }
func interest(ids ...uint32) (list []Place) { return placesOf(false, ids) }

func placesOf(presence bool, ids []uint32) (list []Place) {
	for _, id := range ids {
		list = append(list, Place{ID: id, Presence: presence, Interest: !presence, Depth: map[uint32]int{1: 1, 2: 2, 3: 2, 4: 3, 9: 1}[id]})
	}
	return list
}

func page(t *testing.T, s string) *Page {
	t.Helper()
	p, err := ParsePage(s)
	if err != nil {
		t.Fatal(err)
	}
	return &p
}

// TestRules has a line for each rule of serving.md §12 and §14 that is easy to get wrong.
func TestRules(t *testing.T) {
	noon := time.Date(2026, 3, 31, 12, 0, 0, 0, time.UTC) // a Tuesday
	at := func(change func(*Context)) *Context {
		c := &Context{Time: noon}
		change(c)
		return c
	}
	when := func(text string) *Context {
		return at(func(c *Context) {
			var err error
			if c.Time, err = time.Parse(time.RFC3339, text); err != nil {
				t.Fatal(err)
			}
		})
	}
	where := func(p ...[]Place) *Context {
		return at(func(c *Context) {
			for _, list := range p {
				c.Places = append(c.Places, list...)
			}
		})
	}
	point := &Point{50_000_000, 14_000_000}
	who := func(segments ...string) *Context { return at(func(c *Context) { c.Audiences = segments }) }
	on := func(site string) *Context { return at(func(c *Context) { c.Site = page(t, site) }) }
	blocks := func(b *Blocks) *Context { return at(func(c *Context) { c.Blocks = []*Blocks{b} }) }
	const day = `[{"day":"tuesday","from":"08:00","to":"12:15","modifier_percent":20}]`
	for _, c := range []struct {
		rule string
		said said
		at   *Context
		want string
	}{
		{"the first day is one of delivery", said{start: "2026-03-31"}, when("2026-03-31T00:00:00Z"), "passes"},
		{"the day before is not", said{start: "2026-03-31"}, when("2026-03-30T23:59:59Z"), "not_started"},
		{"the last day is one of delivery", said{end: "2026-03-31"}, when("2026-03-31T23:59:59Z"), "passes"},
		{"the day after is not", said{end: "2026-03-31"}, when("2026-04-01T00:00:00Z"), "ended"},
		{"an end before the start is never shown", said{start: "2026-03-31", end: "2026-03-30"}, at(func(*Context) {}), "ended"},
		{"dates are the advertiser's", said{end: "2026-03-31", zone: "America/New_York"}, when("2026-04-01T03:59:59Z"), "passes"},
		{"a schedule's beginning is in it", said{schedule: day}, when("2026-03-31T08:00:00Z"), "1200 1000 1000 1000"},
		{"its end is not", said{schedule: day}, when("2026-03-31T12:15:00Z"), "off_schedule"},
		{"its last second is", said{schedule: day}, when("2026-03-31T12:14:59Z"), "1200 1000 1000 1000"},
		{"another day is not", said{schedule: day}, when("2026-03-30T10:00:00Z"), "off_schedule"},
		{"the day is the advertiser's", said{schedule: day, zone: "Asia/Kolkata"}, when("2026-03-31T02:30:00Z"), "1200 1000 1000 1000"},
		{"dates come before the schedule", said{end: "2026-03-30", schedule: day}, when("2026-04-01T00:00:00Z"), "ended"},

		{"the place with the longest chain wins", said{locations: `[{"id":1,"modifier_percent":900},{"id":2,"modifier_percent":-50}]`}, where(presence(1, 2)), "1000 500 1000 1000"},
		{"of equally deep ones the higher modifier", said{locations: `[{"id":2,"modifier_percent":10},{"id":3,"modifier_percent":20}]`}, where(presence(1, 2, 3)), "1000 1200 1000 1000"},
		{"of equally deep ones the higher modifier, named first", said{locations: `[{"id":2,"modifier_percent":20},{"id":3,"modifier_percent":10}]`}, where(presence(1, 2, 3)), "1000 1200 1000 1000"},
		{"a circle comes before places", said{locations: `[{"id":4,"modifier_percent":900},{"lat":50,"lon":14,"radius_m":800000,"modifier_percent":-10}]`},
			at(func(c *Context) { c.Places, c.Point = presence(1, 2, 4), point }), "1000 900 1000 1000"},
		{"the smallest circle wins", said{locations: `[{"lat":50,"lon":14,"radius_m":800000,"modifier_percent":900},{"lat":50.001,"lon":14,"radius_m":1000,"modifier_percent":-10}]`},
			at(func(c *Context) { c.Point = point }), "1000 900 1000 1000"},
		{"of equal circles the higher modifier", said{locations: `[{"lat":50,"lon":14,"radius_m":1000,"modifier_percent":-10},{"lat":50.001,"lon":14,"radius_m":1000,"modifier_percent":10}]`},
			at(func(c *Context) { c.Point = point }), "1000 1100 1000 1000"},
		{"an exclusion comes before any target", said{locations: `[{"id":4,"modifier_percent":900},{"id":1,"exclude":true}]`}, where(presence(1, 2, 4)), "location_excluded"},
		{"so does an excluded circle", said{locations: `[{"id":4},{"lat":50,"lon":14,"radius_m":100,"exclude":true}]`},
			at(func(c *Context) { c.Places, c.Point = presence(1, 2, 4), point }), "location_excluded"},
		{"exclusions alone let others pass", said{locations: `[{"id":4,"exclude":true}]`}, where(presence(1, 3)), "passes"},
		{"exclusions alone let an unknown place pass", said{locations: `[{"id":4,"exclude":true}]`}, where(), "passes"},
		{"no place is unknown", said{locations: `[{"id":1}]`}, where(), "location_unknown"},
		{"another place is missed", said{locations: `[{"id":1}]`}, where(presence(9)), "location_missed"},
		{"a point says nothing of places", said{locations: `[{"id":1}]`}, at(func(c *Context) { c.Point = point }), "location_unknown"},
		{"a point outside of a circle is missed", said{locations: `[{"id":1},{"lat":51,"lon":14,"radius_m":100}]`}, at(func(c *Context) { c.Point = point }), "location_missed"},
		{"unknown places may be included", said{locations: `[{"id":1,"modifier_percent":50}]`}, at(func(c *Context) { c.UnknownLocation = true }), "passes"},
		{"missed ones are not", said{locations: `[{"id":1}]`}, at(func(c *Context) { c.Places, c.UnknownLocation = presence(9), true }), "location_missed"},
		{"interest counts by default", said{locations: `[{"id":4}]`}, where(interest(1, 2, 4)), "passes"},
		{"interest does not count with presence, and is not a place", said{locations: `[{"id":4}]`, presence: true}, where(interest(1, 2, 4)), "location_unknown"},
		{"presence counts with presence", said{locations: `[{"id":4}]`, presence: true}, where(presence(1, 2, 4)), "passes"},
		{"interest excludes by default", said{locations: `[{"id":4,"exclude":true}]`}, where(interest(1, 2, 4)), "location_excluded"},
		{"interest does not exclude with presence", said{locations: `[{"id":4,"exclude":true}]`, exclusionPresence: true}, where(interest(1, 2, 4)), "passes"},
		{"each method is its own", said{locations: `[{"id":1},{"id":4,"exclude":true}]`, presence: true}, where(interest(1, 2, 4)), "location_excluded"},
		{"locations come before languages", said{locations: `[{"id":1}]`, languages: []string{"cs"}}, at(func(c *Context) { c.Languages = []string{"en"} }), "location_unknown"},

		{"a shared language passes", said{languages: []string{"cs", "en"}}, at(func(c *Context) { c.Languages = []string{"de", "en"} }), "passes"},
		{"none shared is missed", said{languages: []string{"cs"}}, at(func(c *Context) { c.Languages = []string{"de", "en"} }), "language_missed"},
		{"a request that says none passes", said{languages: []string{"cs"}}, at(func(*Context) {}), "passes"},
		{"languages come before audiences", said{languages: []string{"cs"}, audiences: `{"target":[{"id":"a"}]}`}, at(func(c *Context) { c.Languages = []string{"en"} }), "language_missed"},

		{"an excluded segment comes first", said{audiences: `{"target":[{"id":"a"}],"exclude":[{"id":"b"}]}`}, who("a", "b"), "audience_excluded"},
		{"one that is a target too excludes", said{audiences: `{"target":[{"id":"a"}],"exclude":[{"id":"a"}]}`}, who("a"), "audience_excluded"},
		{"no target is missed", said{audiences: `{"target":[{"id":"a"}],"observe":[{"id":"b"}]}`}, who("b"), "audience_missed"},
		{"a request without segments is missed", said{audiences: `{"target":[{"id":"a"}]}`}, who(), "audience_missed"},
		{"observed ones restrict nothing", said{audiences: `{"observe":[{"id":"b"}]}`}, who(), "passes"},
		{"the highest modifier of both lists", said{audiences: `{"target":[{"id":"a","modifier_percent":-20}],"observe":[{"id":"b","modifier_percent":30}]}`}, who("a", "b"), "1000 1000 1300 1000"},
		{"one without a modifier counts as 1000", said{audiences: `{"target":[{"id":"a","modifier_percent":-20}],"observe":[{"id":"b"}]}`}, who("a", "b"), "passes"},
		{"one alone lowers", said{audiences: `{"observe":[{"id":"a","modifier_percent":-20}]}`}, who("a"), "1000 1000 800 1000"},
		{"of one in both lists the higher", said{audiences: `{"target":[{"id":"a","modifier_percent":30}],"observe":[{"id":"a","modifier_percent":-20}]}`}, who("a"), "1000 1000 1300 1000"},
		{"the group's replace the campaign's", said{audiences: `{"target":[{"id":"a"}],"exclude":[{"id":"b"}]}`, groupAudiences: `{"observe":[{"id":"c"}]}`}, who("b"), "passes"},
		{"the group's sites do not replace audiences", said{audiences: `{"target":[{"id":"a"}]}`, groupSites: `{"exclude":[{"site":"a.example"}]}`}, who("b"), "audience_missed"},
		{"audiences come before sites", said{audiences: `{"target":[{"id":"a"}]}`, sites: `{"include":[{"site":"a.example"}]}`}, who("b"), "audience_missed"},

		{"the longest host wins", said{sites: `{"include":[{"site":"shop.a.example","modifier_percent":-10}],"exclude":[{"site":"a.example/x/y"}]}`}, on("shop.a.example/x/y"), "1000 1000 1000 900"},
		{"then the longest path", said{sites: `{"include":[{"site":"a.example/x","modifier_percent":10}],"exclude":[{"site":"a.example"}]}`}, on("a.example/x/y"), "1000 1000 1000 1100"},
		{"then the exclusion", said{sites: `{"include":[{"site":"a.example/x"}],"exclude":[{"site":"a.example/x"}]}`}, on("a.example/x/y"), "site_excluded"},
		{"of included ones the longest, too", said{sites: `{"include":[{"site":"a.example","modifier_percent":10},{"site":"a.example/x","modifier_percent":20}]}`}, on("a.example/x"), "1000 1000 1000 1200"},
		{"a parent domain holds", said{sites: `{"include":[{"site":"a.example"}]}`}, on("shop.a.example"), "passes"},
		{"an ending does not", said{sites: `{"include":[{"site":"a.example"}]}`}, on("bada.example"), "site_missed"},
		{"a path holds whole segments", said{sites: `{"include":[{"site":"a.example/camera"}]}`}, on("a.example/camerasale"), "site_missed"},
		{"no site is missed", said{sites: `{"include":[{"site":"a.example"}]}`}, at(func(*Context) {}), "site_missed"},
		{"exclusions alone let others pass", said{sites: `{"exclude":[{"site":"a.example"}]}`}, on("b.example"), "passes"},
		{"the group's sites replace the campaign's", said{sites: `{"include":[{"site":"a.example"}]}`, groupSites: `{"include":[{"site":"b.example"}]}`}, on("a.example"), "site_missed"},
		{"sites come before blocks", said{sites: `{"include":[{"site":"a.example"}]}`}, blocks(&Blocks{Uncategorised: true}), "site_missed"},

		{"an advertiser", said{}, blocks(NewBlocks([]uint64{7}, nil, nil, false)), "blocked"},
		{"another advertiser", said{}, blocks(NewBlocks([]uint64{8}, nil, nil, false)), "passes"},
		{"a category's beginning", said{categories: []string{"alcohol/wine"}}, blocks(NewBlocks(nil, nil, []string{"alcohol"}, false)), "blocked"},
		{"of whole segments", said{categories: []string{"alcohol-free"}}, blocks(NewBlocks(nil, nil, []string{"alcohol"}, false)), "passes"},
		{"not what holds it", said{categories: []string{"alcohol"}}, blocks(NewBlocks(nil, nil, []string{"alcohol/wine"}, false)), "passes"},
		{"the advertiser's categories add", said{categories: []string{"games"}, advertisers: []string{"alcohol"}}, blocks(NewBlocks(nil, nil, []string{"alcohol"}, false)), "blocked"},
		{"without any category", said{}, blocks(NewBlocks(nil, nil, nil, true)), "blocked"},
		{"the advertiser's is one", said{advertisers: []string{"games"}}, blocks(NewBlocks(nil, nil, nil, true)), "passes"},
		{"the second block", said{categories: []string{"games"}}, at(func(c *Context) {
			c.Blocks = []*Blocks{NewBlocks(nil, nil, nil, true), NewBlocks(nil, nil, []string{"games"}, false)}
		}), "blocked"},
	} {
		if got := c.said.judged(t, c.at); got != c.want {
			t.Errorf("%s: %s, want %s", c.rule, got, c.want)
		}
	}
}

// TestFactors: each factor rounds down, one after the other, and the last result is at most tenfold.
func TestFactors(t *testing.T) {
	for _, c := range []struct {
		device uint64
		by     Factors
		want   uint64
	}{
		{1000, neutral, 1000}, {0, Factors{10_000, 10_000, 10_000, 10_000}, 0},
		{333, Factors{333, 1000, 1000, 1000}, 110}, {999, Factors{999, 999, 999, 999}, 995}, {1, Factors{1999, 1999, 1000, 1000}, 1},
		{1000, Factors{1500, 333, 1000, 1000}, 499}, {1000, Factors{333, 1500, 1000, 1000}, 499}, {101, Factors{101, 1000, 10_000, 1000}, 100}, {101, Factors{10_000, 1000, 101, 1000}, 102},
		{1000, Factors{10_000, 2000, 1000, 1000}, 10_000}, {1000, Factors{10_000, 10_000, 100, 100}, 1000}, {10_000, Factors{10_000, 100, 100, 1000}, 1000},
	} {
		if got := c.by.Apply(c.device); got != c.want {
			t.Errorf("%d by %v: %d, want %d", c.device, c.by, got, c.want)
		}
	}
	for device, by := range map[uint64]Factors{1000: {10_000, 1000, 1000, 1000}, 1001: {10_000, 10_000, 1000, 99}, 0: {10_000, 10_000, 10_000, 10_000}} {
		if by.Clamped(device) {
			t.Errorf("%d by %v is clamped", device, by)
		}
	}
	if by := (Factors{10_000, 1000, 1000, 1000}); !by.Clamped(1001) {
		t.Error("more than tenfold is not clamped")
	}
}

// TestSitesOverlap: sites overlap if a page lies in an included and an excluded one.
func TestSitesOverlap(t *testing.T) {
	for sites, want := range map[string]bool{
		"example.com/forum -example.com": true, "example.com -example.com/forum": true, "example.com/forum -shop.example.com": true,
		"example.com -example.com": true, "shop.example.com/a -example.com/a/b": true,
		"example.com/a -example.com/b": false, "example.com/a -example.com/ab": false, "example.com -other.example": false,
		"example.com -badexample.com": false, "example.com other.example": false, "-example.com -example.com/forum": false,
	} {
		var s Sites
		for _, text := range strings.Fields(sites) {
			name, out := strings.CutPrefix(text, "-")
			p, err := ParsePage(name)
			if err != nil {
				t.Fatal(err)
			}
			if out {
				s.Exclude = append(s.Exclude, Site{Page: p})
			} else {
				s.Include = append(s.Include, Site{Page: p})
			}
		}
		if got := s.Overlap(); got != want {
			t.Errorf("%s: %v", sites, got)
		}
	}
}

// TestBlockedURLs: a blocked domain blocks the URLs of its subdomains, whatever surrounds the host. Any blocked domain blocks a URL
// without a proper host.
func TestBlockedURLs(t *testing.T) {
	at := &Context{Blocks: []*Blocks{NewBlocks([]uint64{1}, nil, nil, false), NewBlocks(nil, []string{"casino.example"}, nil, false)}}
	for url, want := range map[string]bool{
		"https://casino.example/": true, "https://www.CASINO.example.:80/x": true, "https://a.b.casino.example": true, "https://u@casino.example?x": true,
		"https://mycasino.example/": false, "https://casino.example.other/": false, "https://example/": false, "https://other.example/casino.example": false,
		"https://casino.example@other.example/": false, `https://other.example\@casino.example/`: false, "": false,
		"https:///": true, "casino.example": true, "https://a b/": true,
	} {
		if got := at.BlocksURL(url); got != want {
			t.Errorf("%q: blocked %v, want %v", url, got, want)
		}
	}
	at.Blocks = at.Blocks[:1]
	if at.BlocksURL("https:///") {
		t.Error("a block without domains meets a URL without a host")
	}
}
