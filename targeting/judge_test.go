package targeting

import (
	"testing"
	"time"
)

// TestExplained: a judge that explains names what decided and each factor. A judge that does not explain
// spends no time on that.
func TestExplained(t *testing.T) {
	parse := func(t *testing.T, schedule, locations, audiences, sites string) *Campaign {
		t.Helper()
		var s Targeting
		var err [4]error
		if schedule != "" {
			s.Schedule, err[0] = ParseSchedule([]byte(schedule))
		}
		if locations != "" {
			s.Locations, err[1] = ParseLocations([]byte(locations))
		}
		if audiences != "" {
			s.Audiences, err[2] = ParseAudiences([]byte(audiences))
		}
		if sites != "" {
			s.Sites, err[3] = ParseSites([]byte(sites))
		}
		if err != [4]error{} {
			t.Fatal(err)
		}
		return Compile(&s)
	}
	noon := time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC) // a Wednesday
	request := Context{
		Time: noon, Places: []Place{{ID: 2203, Presence: true, Depth: 1}}, Point: &Point{Lat: 50_000_000}, Audiences: []string{"a", "b"},
		Site:   &Page{Host: "shop.example", Path: "/x"},
		Blocks: []*Blocks{NewBlocks([]uint64{9}, nil, []string{"alcohol"}, false), {Name: "kids", Uncategorised: true}},
	}
	owner := Owner{ID: 1, Zone: time.UTC, Categories: Categories{"food"}}
	for name, c := range map[string]struct {
		campaign *Campaign
		group    *Group
		owner    Owner
		want     Verdict
		by       Criterion
		factors  [4]Criterion
	}{
		"starts": {campaign: Compile(&Targeting{Start: 20260305}), want: NotStarted, by: Criterion{Text: "2026-03-05, and the request was made at 2026-03-04 12:00 in UTC"}},
		"ended":  {campaign: Compile(&Targeting{End: 20260303}), want: Ended, by: Criterion{Text: "2026-03-03, and the request was made at 2026-03-04 12:00 in UTC"}},
		"schedule": {campaign: parse(t, `[{"day":"wednesday","from":"08:00","to":"12:00"}]`, "", "", ""), want: OffSchedule,
			by: Criterion{Text: "it is Wednesday 12:00 in UTC, its advertiser's time zone, and its campaign is shown on Wednesdays only from 08:00 to 12:00"}},
		"place": {campaign: parse(t, "", `[{"id":2203,"exclude":true}]`, "", ""), want: LocationExcluded, by: Criterion{Text: "place 2203"}},
		"circle": {campaign: parse(t, "", `[{"lat":50,"lon":0,"radius_m":100,"exclude":true}]`, "", ""), want: LocationExcluded,
			by: Criterion{Text: "the 100 m around (50, 0)"}},
		"segment": {campaign: parse(t, "", "", `{"exclude":[{"id":"b"}]}`, ""), want: AudienceExcluded, by: Criterion{Text: "b"}},
		"group's segment": {group: CompileGroup(&Audiences{Exclude: []Segment{{ID: "a"}}}, &Sites{}), want: AudienceExcluded,
			by: Criterion{Text: "a", OfGroup: true}},
		"site": {campaign: parse(t, "", "", "", `{"exclude":[{"site":"shop.example/x"}]}`), want: SiteExcluded, by: Criterion{Text: "shop.example/x"}},
		"segments missed": {campaign: parse(t, "", "", `{"target":[{"id":"c"},{"id":"d"},{"id":"e"},{"id":"f"},{"id":"g"}]}`, ""), want: AudienceMissed,
			by: Criterion{Text: `"c", "d", "e" and 2 more`}},
		"sites missed": {campaign: parse(t, "", "", "", `{"include":[{"site":"other.example"}]}`), want: SiteMissed, by: Criterion{Text: "other.example"}},
		"places missed": {campaign: parse(t, "", `[{"id":2276},{"lat":10,"lon":0,"radius_m":100}]`, "", ""), want: LocationMissed,
			by: Criterion{Text: "place 2276, the 100 m around (10, 0)"}},
		"advertiser":    {owner: Owner{ID: 9, Categories: Categories{"food"}}, want: Blocked, by: Criterion{Text: "the request blocks the keyword's advertiser, 9"}},
		"category":      {owner: Owner{Categories: Categories{"alcohol/wine"}}, want: Blocked, by: Criterion{Text: `the request blocks the category "alcohol", and the keyword's advertiser is in "alcohol/wine"`}},
		"uncategorised": {owner: Owner{}, want: Blocked, by: Criterion{OfList: true, Text: `the request's block list "kids" blocks campaigns without a category, and neither the keyword's campaign nor its advertiser has one`}},
		"what is passed": {campaign: parse(t, `[{"day":"wednesday","from":"12:00","to":"13:00","modifier_percent":10}]`, `[{"id":2203,"modifier_percent":10}]`,
			`{"observe":[{"id":"a","modifier_percent":10},{"id":"b","modifier_percent":20}]}`, `{"include":[{"site":"shop.example","modifier_percent":10}]}`),
			factors: [4]Criterion{{Text: "Wednesday 12:00 to 13:00"}, {Text: "place 2203"}, {Text: "b"}, {Text: "shop.example"}}},
	} {
		if c.owner.Zone == nil {
			c.owner.Zone = time.UTC
		}
		if name != "advertiser" && name != "category" && name != "uncategorised" {
			c.owner = owner
		}
		for _, explain := range []bool{false, true} {
			j := NewJudge(&request)
			j.Reset(&request, explain)
			o := j.Group(c.campaign, c.group, &c.owner)
			by, factors := c.by, c.factors
			if !explain {
				by, factors = Criterion{}, [4]Criterion{}
			}
			if o.Verdict != c.want || o.Criterion != by || o.By != factors {
				t.Errorf("%s, explain %v: %+v", name, explain, o)
			}
		}
	}
}

// TestBlockOfURL checks the entry named for a final URL that is blocked.
func TestBlockOfURL(t *testing.T) {
	c := Context{Blocks: []*Blocks{NewBlocks(nil, []string{"a.example"}, nil, false), {Name: "kids", Domains: NewTexts([]string{"casino.example"})}}}
	for url, want := range map[string]string{
		"https://a.example/x":          `the request blocks "a.example", and ad 7's final URL leads to a.example`,
		"https://www.b.casino.example": `the request's block list "kids" blocks "casino.example", and ad 7's final URL leads to b.casino.example`,
		"nonsense":                     `the request blocks domains, and ad 7's final URL "nonsense" has no proper host`,
	} {
		if got := c.BlockOfURL(url, "ad 7's"); !c.BlocksURL(url) || got.Text != want || got.OfPlacement || got.OfList != (url == "https://www.b.casino.example") {
			t.Errorf("%s: %+v", url, got)
		}
	}
	if c.BlocksURL("https://example/a.example") || c.BlocksURL("") {
		t.Error("what no block meets")
	}
}

// TestBlockOfPlacement says whose the block is that meets, the request's or a placement's.
func TestBlockOfPlacement(t *testing.T) {
	own, kids := NewBlocks([]uint64{9}, []string{"a.example"}, []string{"alcohol"}, true), &Blocks{Name: "kids", Domains: NewTexts([]string{"casino.example"})}
	own.OfPlacement = true
	request := NewBlocks(nil, nil, []string{"toys"}, false)
	c := Context{Blocks: []*Blocks{own, request, kids}, Lists: []ListVersion{{Name: "kids", OfPlacement: true}}}
	for url, want := range map[string]string{
		"https://a.example":      `the placement blocks "a.example", and the keyword's final URL leads to a.example`,
		"https://casino.example": `the placement's block list "kids" blocks "casino.example", and the keyword's final URL leads to casino.example`,
		"nonsense":               `the placement blocks domains, and the keyword's final URL "nonsense" has no proper host`,
	} {
		if got := c.BlockOfURL(url, "the keyword's"); got.Text != want || !got.OfPlacement || got.OfList != (url == "https://casino.example") {
			t.Errorf("%s: %+v", url, got)
		}
	}
	j := NewJudge(&c)
	j.Reset(&c, true)
	for want, owner := range map[string]Owner{
		"the placement blocks the keyword's advertiser, 9":                                          {ID: 9, Zone: time.UTC},
		`the placement blocks the category "alcohol", and the keyword's advertiser is in "alcohol"`: {Zone: time.UTC, Categories: Categories{"alcohol"}},
		`the request blocks the category "toys", and the keyword's advertiser is in "toys/dolls"`:   {Zone: time.UTC, Categories: Categories{"toys/dolls"}},
	} {
		if got := j.Group(nil, nil, &owner).Criterion.Text; got != want {
			t.Errorf("%s, not %s", got, want)
		}
	}
}
