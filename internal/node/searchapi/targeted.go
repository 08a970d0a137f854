package searchapi

import (
	"fmt"
	"strings"

	"adshard/internal/node/httpapi/api"
	"adshard/search"
	"adshard/targeting"
)

// targeted says in words why a request's context keeps a keyword from being shown, and what to change for it to be.
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
		return fmt.Sprintf("its campaign starts on %s in its advertiser's time zone, which is after the time of the request: set an earlier start date", c.Text)
	case search.Ended:
		return fmt.Sprintf("its campaign ended with %s in its advertiser's time zone, which is before the time of the request: set a later end date", c.Text)
	case search.OffSchedule:
		return fmt.Sprintf("its campaign's schedule has no interval for %s, the time of the request in its advertiser's time zone: add one, or remove the schedule", c.Text)
	case search.LocationExcluded:
		return fmt.Sprintf("its campaign excludes %s, which holds a location of the request: remove the exclusion", c.Text)
	case search.LocationUnknown:
		return "its campaign is targeted at locations, and the request names none that counts for it: send a location or a point, or remove the campaign's locations"
	case search.LocationMissed:
		return "its campaign is targeted at locations, and none of them holds one of the request: add one that does"
	case search.LanguageMissed:
		return fmt.Sprintf("none of the request's languages (%s) is one of its campaign's: add one of them to the campaign",
			strings.Join(contextOfRequest(req).Languages, ", "))
	case search.AudienceExcluded:
		return fmt.Sprintf("%s excludes the audience segment %q, to which the user belongs: remove the exclusion", of, c.Text)
	case search.AudienceMissed:
		return of + " is targeted at audience segments, and the request names none of them: add one of the request's, or only observe the segments"
	case search.SiteExcluded:
		return fmt.Sprintf("%s excludes the site %s, to which the request's page belongs: remove the exclusion", of, c.Text)
	case search.SiteMissed:
		return of + " is shown only on the sites that it includes, and the request's page belongs to none of them: include its site"
	}
	return blocked(c)
}

// blocked says in words which block meets a keyword.
func blocked(c targeting.Criterion) string {
	return fmt.Sprintf("the request blocks %s: only who runs the page can change that", c.Text)
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
