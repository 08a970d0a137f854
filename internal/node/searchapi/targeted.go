package searchapi

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"adshard/internal/node/httpapi/api"
	"adshard/places"
	"adshard/search"
	"adshard/targeting"
)

// targeted says in words why the context of a request keeps a keyword from being shown, and what to change. `names` has the names of
// places.
func targeted(m *search.Explained, req *search.Request, names *places.Table) string {
	var by targeting.Criterion
	if m.Context != nil {
		by = m.Context.Criterion
	}
	of := "its campaign"
	if by.OfGroup {
		of = "its ad group"
	}
	at, what := contextOfRequest(req), withNames(by.Text, names)
	switch m.Verdict {
	case search.NotStarted:
		return fmt.Sprintf("its campaign starts on %s, its advertiser's time zone: set an earlier start date", what)
	case search.Ended:
		return fmt.Sprintf("the last day of its campaign was %s, its advertiser's time zone: set a later end date, or none", what)
	case search.OffSchedule:
		return what + ": extend or remove the schedule"
	case search.LocationExcluded:
		return fmt.Sprintf("its campaign excludes %s, where a location of the request lies: remove the exclusion", what)
	case search.LocationUnknown:
		return what + ": send the location of the user, which must lie in one of these, or remove the campaign's locations"
	case search.LocationMissed:
		return fmt.Sprintf("its campaign is shown only in %s, and none of the request's locations lies there: add one of the request's locations to the campaign", what)
	case search.LanguageMissed:
		return fmt.Sprintf("its campaign is for users of %s, and none of the user's languages (%s) is among these: add one of the user's to the campaign", what, strings.Join(at.Languages, ", "))
	case search.AudienceExcluded:
		return fmt.Sprintf("%s excludes the audience segment %q, to which the user belongs: remove the exclusion", of, by.Text)
	case search.AudienceMissed:
		return fmt.Sprintf("%s is shown only to users in %s, %s", of, by.Text, noneOf(len(at.Audiences) > 0,
			"and none of the user's audience segments is among these: target one of the user's as well, or have "+of+" observe its segments instead of targeting them",
			"and the request names no audience segments: send the user's, or have "+of+" observe its segments instead of targeting them"))
	case search.SiteExcluded:
		return fmt.Sprintf("%s excludes the site %s, to which the request's page belongs: remove the exclusion", of, by.Text)
	case search.SiteMissed:
		return fmt.Sprintf("%s is shown only on %s, %s", of, by.Text, noneOf(at.Site != nil,
			"and the request's page is not there: add the page's site to "+of,
			"and the request names no page: send the page's site, or remove the sites of "+of))
	}
	return what + unblock(by)
}

// unblock returns how to remove the block that is a criterion.
func unblock(by targeting.Criterion) string {
	whose := "the request"
	if by.OfPlacement {
		whose = "the placement"
	}
	if by.OfList {
		return ": take it off the list, or the list out of " + whose
	}
	return ": remove the block from " + whose
}

// noneOf returns `unfit` if the request has a value, which does not fit, and `unsaid` if it has none.
func noneOf(said bool, unfit, unsaid string) string {
	if said {
		return unfit
	}
	return unsaid
}

var placeNumber = regexp.MustCompile(`place (\d+)`)

// withNames writes the names of places before their numbers.
func withNames(text string, t *places.Table) string {
	return placeNumber.ReplaceAllStringFunc(text, func(s string) string {
		id, err := strconv.ParseUint(strings.TrimPrefix(s, "place "), 10, 32)
		if err != nil {
			return s
		}
		row, ok := t.Place(uint32(id))
		if !ok {
			return s
		}
		return row.Name + " (" + s + ")"
	})
}

func contextOfRequest(r *search.Request) *targeting.Context {
	if r.Context == nil {
		return new(targeting.Context)
	}
	return r.Context
}

// factorNames are the names of the dimensions that multiply bids, in order.
var factorNames = [...]string{"schedule", "location", "audience", "site"}

// factors lists what multiplies a keyword's bid.
func factors(m *search.Explained, device search.Device) []api.TargetingFactor {
	var out []api.TargetingFactor
	if d := m.Device; d != nil {
		out = append(out, api.TargetingFactor{
			Dimension: api.TargetingFactorDimensionDevice, Permille: int(d.Permille), Criterion: device.String(), OfGroup: d.OfGroup,
		})
	}
	o := m.Context
	if o == nil || o.Verdict != targeting.Pass {
		return out
	}
	for i, f := range o.Factors.All() {
		if f != targeting.Default {
			out = append(out, api.TargetingFactor{
				Dimension: api.TargetingFactorDimension(factorNames[i]), Permille: int(f), Criterion: o.By[i].Text, OfGroup: o.By[i].OfGroup,
			})
		}
	}
	return out
}
