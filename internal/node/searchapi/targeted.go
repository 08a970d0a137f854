package searchapi

import (
	"fmt"
	"strings"

	"adshard/internal/node/httpapi/api"
	"adshard/search"
	"adshard/targeting"
)

// targeted says in words why a request's context keeps a keyword from being shown, and what would have to be different.
func targeted(m *search.Explained, req *search.Request) string {
	var c targeting.Criterion
	if m.Context != nil {
		c = m.Context.Criterion
	}
	of := "its campaign"
	if c.OfGroup {
		of = "its ad group"
	}
	switch m.Verdict {
	case search.NotStarted:
		return fmt.Sprintf("its campaign starts on %s, in the time zone of its advertiser", c.Text)
	case search.Ended:
		return fmt.Sprintf("its campaign ended with %s, in the time zone of its advertiser", c.Text)
	case search.OffSchedule:
		return fmt.Sprintf("its campaign's schedule has no interval for %s, the time of the request in the zone of its advertiser", c.Text)
	case search.LocationExcluded:
		return fmt.Sprintf("its campaign excludes %s, where the request's user is or what the query is about", c.Text)
	case search.LocationUnknown:
		return "its campaign is targeted at places, and the request says of no place that counts for it: send a location or a point"
	case search.LocationMissed:
		return "its campaign is targeted at places, and the request's are none of these, nor within them"
	case search.LanguageMissed:
		return fmt.Sprintf("the request's languages (%s) are none of its campaign's", strings.Join(contextOfRequest(req).Languages, ", "))
	case search.AudienceExcluded:
		return fmt.Sprintf("%s excludes the audience segment %q, to which the user belongs", of, c.Text)
	case search.AudienceMissed:
		return of + " is targeted at audience segments, and the request names none of these"
	case search.SiteExcluded:
		return fmt.Sprintf("%s excludes the site %s, to which the request's page belongs", of, c.Text)
	case search.SiteMissed:
		return of + " is shown on the sites that it includes only, and the request's page is none of these"
	}
	return blocked(m, c)
}

// blocked says in words which block meets a keyword.
func blocked(m *search.Explained, c targeting.Criterion) string {
	switch {
	case m.Context == nil || m.Context.Verdict != targeting.Blocked:
		return "a block of the page meets the site to which it leads"
	case c.Text == "":
		return "a block of the request meets its advertiser, or a category of its campaign or advertiser, or the lack of any"
	}
	return fmt.Sprintf("the block list %q meets its advertiser, or a category of its campaign or advertiser, or the lack of any", c.Text)
}

func contextOfRequest(r *search.Request) *targeting.Context {
	if r.Context == nil {
		return new(targeting.Context)
	}
	return r.Context
}

// factorNames are the dimensions that multiply bids, in their order.
var factorNames = [...]string{"schedule", "location", "audience", "site"}

// factors lists what multiplies a keyword's bid beside the modifier of the device.
func factors(o *targeting.Outcome) []api.TargetingFactor {
	if o == nil || o.Verdict != targeting.Pass {
		return nil
	}
	var out []api.TargetingFactor
	for i, f := range o.Factors.All() {
		if f != targeting.Default {
			out = append(out, api.TargetingFactor{
				Dimension: api.TargetingFactorDimension(factorNames[i]), Permille: int(f), Criterion: o.By[i].Text, OfGroup: o.By[i].OfGroup,
			})
		}
	}
	return out
}
