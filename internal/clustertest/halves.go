package clustertest

import (
	"fmt"
	"maps"
	"net/url"

	"adshard/backend"
)

// dimension is a kind of targeting in which the versions of a changing group differ. The request of everyone passes all versions, and
// some requests pass only the versions with an even number.
type dimension struct {
	name string
	// even and odd set the targeting of even and odd versions.
	even, odd func(*backend.CampaignPatch, *backend.GroupPatch)
	// half has the parameters in which a request differs from that of everyone so that only even versions pass it. An empty
	// list removes a parameter.
	half url.Values
}

func (d *dimension) patch(n int, c *backend.CampaignPatch, g *backend.GroupPatch) {
	if n%2 == 0 {
		d.even(c, g)
	} else {
		d.odd(c, g)
	}
}

// everyone returns a context that all versions pass: a Tuesday in August, in two countries at once.
func everyone() url.Values {
	return url.Values{
		"location": {"2203", "2840"}, "time": {"2026-08-04T12:00:00Z"}, "audience": {"a", "b"}, "site": {"both.example"},
	}
}

// campaign turns a function that changes a campaign into an even or odd of a dimension.
func campaign(set func(*backend.CampaignPatch)) func(*backend.CampaignPatch, *backend.GroupPatch) {
	return func(c *backend.CampaignPatch, _ *backend.GroupPatch) { set(c) }
}

func dimensionOf(g int) *dimension { return &dimensions[g%len(dimensions)] }

var dimensions = []dimension{
	{
		name: "place",
		even: campaign(func(c *backend.CampaignPatch) { c.Locations = backend.To(`[{"id":2203,"modifier_percent":20}]`) }),
		odd:  campaign(func(c *backend.CampaignPatch) { c.Locations = backend.To(`[{"id":2840}]`) }),
		half: url.Values{"location": {"2203"}},
	},
	{
		name: "circle",
		even: campaign(func(c *backend.CampaignPatch) { c.Locations = backend.Patch[string]{Op: backend.Reset} }),
		odd: campaign(func(c *backend.CampaignPatch) {
			c.Locations = backend.To(`[{"lat":50,"lon":14,"radius_m":1000,"exclude":true}]`)
		}),
		half: url.Values{"point": {"50.001,14"}},
	},
	{
		name: "dates",
		even: campaign(func(c *backend.CampaignPatch) { c.StartDate = backend.Patch[string]{Op: backend.Reset} }),
		odd:  campaign(func(c *backend.CampaignPatch) { c.StartDate = backend.To("2026-07-01") }),
		half: url.Values{"time": {"2026-06-30T23:59:59Z"}},
	},
	{
		name: "schedule",
		even: campaign(func(c *backend.CampaignPatch) {
			c.Schedule = backend.To(`[{"day":"monday","from":"08:00","to":"12:00"},{"day":"tuesday","from":"00:00","to":"24:00"}]`)
		}),
		odd: campaign(func(c *backend.CampaignPatch) {
			c.Schedule = backend.To(`[{"day":"tuesday","from":"12:00","to":"12:15"}]`)
		}),
		half: url.Values{"time": {"2026-08-03T11:59:59Z"}},
	},
	{
		name: "language",
		even: campaign(func(c *backend.CampaignPatch) { c.Languages = backend.To(backend.Languages("en")) }),
		odd:  campaign(func(c *backend.CampaignPatch) { c.Languages = backend.To(backend.Languages("cs")) }),
		half: url.Values{"language": {"en"}},
	},
	{
		name: "audience",
		even: campaign(func(c *backend.CampaignPatch) {
			c.Audiences = backend.To(`{"target":[{"id":"a","modifier_percent":50}]}`)
		}),
		odd:  campaign(func(c *backend.CampaignPatch) { c.Audiences = backend.To(`{"target":[{"id":"b"}]}`) }),
		half: url.Values{"audience": {"a"}},
	},
	{
		name: "audience of the group",
		even: func(_ *backend.CampaignPatch, g *backend.GroupPatch) {
			g.Audiences = backend.To(`{"target":[{"id":"a"}]}`)
		},
		odd: func(_ *backend.CampaignPatch, g *backend.GroupPatch) {
			g.Audiences = backend.To(`{"target":[{"id":"b"}]}`)
		},
		half: url.Values{"audience": {"a"}},
	},
	{
		name: "site of the group",
		even: func(_ *backend.CampaignPatch, g *backend.GroupPatch) {
			g.Sites = backend.To(`{"include":[{"site":"a.example"},{"site":"both.example"}]}`)
		},
		odd: func(_ *backend.CampaignPatch, g *backend.GroupPatch) {
			g.Sites = backend.To(`{"include":[{"site":"both.example"}]}`)
		},
		half: url.Values{"site": {"shop.a.example/x"}},
	},
	{
		name: "category",
		even: campaign(func(c *backend.CampaignPatch) { c.Categories = backend.To(`["fine"]`) }),
		odd:  campaign(func(c *backend.CampaignPatch) { c.Categories = backend.To(`["bad/worse","fine"]`) }),
		half: url.Values{"block_category": {"bad"}},
	},
}

// Half queries a targeted group g in such a way that only even versions are shown. For any answer there must be a version that explains
// it.
func (c *Changer) Half(g int, ask func(url.Values) (Answer, error)) (a Answer, wrong string, err error) {
	c.mu.Lock()
	restoring := c.restoring
	c.mu.Unlock()
	d, v := dimensionOf(g), c.params(Word(g), "4")
	maps.Copy(v, d.half)
	a, err = ask(v)
	if err != nil || !a.Coverage.Complete {
		return a, "", err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	least, most := c.least(g, restoring, &a, func(v version, clock uint64) bool { return v.clock <= clock }), c.begun[g]
	fail := func(what string) (Answer, string, error) {
		return a, fmt.Sprintf("%s of %d to %d at clock %d, by %s: %d matched, %d candidates, %+v", what, least, most, a.Coverage.AppliedClock, d.name,
			a.Matched, a.Candidates, a.Ads), nil
	}
	if a.Matched != 1 || len(a.Ads) != int(a.Candidates) || a.Candidates > 1 {
		return fail("not one keyword")
	}
	if len(a.Ads) == 0 {
		if least == most && most%2 == 0 {
			return fail("an even version is not shown")
		}
		return a, "", nil
	}
	n, err := shownVersion(&a)
	if err != nil {
		return a, "", err
	}
	if n < least || n > most || least == most && most%2 == 1 {
		return fail(fmt.Sprintf("version %d is shown", n))
	}
	return a, "", nil
}
