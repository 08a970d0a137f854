package console

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"adshard/internal/node/httpapi/api"
)

// contextForm is the part of the form that describes the user and the page of a query, as it was sent.
type contextForm struct {
	Place, Interest, Point, Time, Languages, Audiences, Site string
	Block, Advertisers, Domains, Categories                  string
	Uncategorised                                            bool
}

func contextOf(q url.Values) contextForm {
	return contextForm{
		Place: q.Get("place"), Interest: q.Get("interest"), Point: q.Get("point"), Time: q.Get("time"), Languages: q.Get("languages"),
		Audiences: q.Get("audiences"), Site: q.Get("site"), Block: q.Get("block"), Advertisers: q.Get("advertisers"), Domains: q.Get("domains"),
		Categories: q.Get("categories"), Uncategorised: q.Has("uncategorised"),
	}
}

// Any reports whether any field is filled in.
func (f contextForm) Any() bool { return f != contextForm{} }

// linesOf splits a text at line ends and semicolons, which hardly occur in names of places and segments.
func linesOf(text string) (list []string) {
	for _, one := range strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == ';' }) {
		if one = strings.TrimSpace(one); one != "" {
			list = append(list, one)
		}
	}
	return list
}

// unclearPlace is a name that several places have, or none, with the places that may be meant.
type unclearPlace struct {
	Name    string
	Total   int
	Choices []placeChoice
}

// placeChoice is a place, with the URL of the query's page that has the place's number instead of the name.
type placeChoice struct {
	api.Place
	URL string
}

// parameters returns the parameters of a search. Names of places that are not clear are noted in the page. Errors: *refused.
func (c *Console) parameters(r *http.Request, l *queryPage) (url.Values, error) {
	f, q := &l.Form.Context, url.Values{}
	for _, of := range []struct{ field, param, text string }{{"place", "location", f.Place}, {"interest", "interest_location", f.Interest}} {
		ids, err := c.placesOf(r, l, of.field, of.text)
		if err != nil {
			return nil, err
		}
		q[of.param] = ids
	}
	for name, v := range map[string]string{"time": f.Time, "site": f.Site, "point": strings.Join(wordsOf(f.Point), ",")} {
		if v = strings.TrimSpace(v); v != "" {
			q.Set(name, v)
		}
	}
	q["audience"] = linesOf(f.Audiences)
	for name, v := range map[string]string{
		"language": f.Languages, "block": f.Block, "block_advertiser": f.Advertisers, "block_domain": f.Domains, "block_category": f.Categories,
	} {
		q[name] = wordsOf(v)
	}
	if f.Uncategorised {
		q.Set("block_uncategorised", "true")
	}
	if len(l.Unclear) > 0 {
		return nil, &refused{http.StatusBadRequest, "It is not clear which places are meant."}
	}
	return q, nil
}

// choices is the number of places that a page offers for a name.
const choices = 20

// placesOf returns the numbers of the places that a field gives by number or by name.
func (c *Console) placesOf(r *http.Request, l *queryPage, field, text string) (ids []string, err error) {
	for _, one := range linesOf(text) {
		if _, err := strconv.ParseUint(one, 10, 32); err == nil {
			ids = append(ids, one)
			continue
		}
		found := new(api.PlaceList)
		if err := ask(c.cfg.API, r, http.MethodGet, "/v1/locations", url.Values{"find": {one}, "limit": {strconv.Itoa(choices)}}, nil, found); statusOf(err) == http.StatusNotFound {
			return nil, &refused{http.StatusBadRequest, fmt.Sprintf("This port does not know what %q is called: give its number.", one)}
		} else if err != nil {
			return nil, err
		}
		if p := theOne(one, found); p != nil {
			ids = append(ids, strconv.FormatUint(uint64(p.ID), 10))
			continue
		}
		l.Unclear = append(l.Unclear, unclear(r, field, text, one, found))
	}
	return ids, nil
}

// theOne returns the place that a name means: the only one with that canonical name, or else the only one with that name, or else
// the only one that was found. It returns nil if the name is not clear.
func theOne(name string, found *api.PlaceList) *api.Place {
	for _, of := range []func(*api.Place) string{func(p *api.Place) string { return p.CanonicalName }, func(p *api.Place) string { return p.Name }} {
		var same []*api.Place
		for i := range found.Locations {
			if p := &found.Locations[i]; strings.EqualFold(of(p), name) {
				same = append(same, p)
			}
		}
		if len(same) == 1 && found.Total <= len(found.Locations) {
			return same[0]
		}
	}
	if len(found.Locations) == 1 && found.Total == 1 {
		return &found.Locations[0]
	}
	return nil
}

// unclear offers the places that were found for an unclear name. Each is a link to the page with the place's number instead of the
// name.
func unclear(r *http.Request, field, text, name string, found *api.PlaceList) unclearPlace {
	u := unclearPlace{Name: name, Total: found.Total}
	for _, p := range found.Locations {
		q, all := r.URL.Query(), linesOf(text)
		all[slices.Index(all, name)] = strconv.FormatUint(uint64(p.ID), 10)
		q.Set(field, strings.Join(all, "; "))
		u.Choices = append(u.Choices, placeChoice{p, Root + "query?" + q.Encode()})
	}
	return u
}

// verdictTexts says what each verdict means for a keyword.
var verdictTexts = map[api.Verdict]string{
	api.VerdictKeywordPaused:     "the keyword is paused",
	api.VerdictGroupPaused:       "the ad group is paused",
	api.VerdictCampaignPaused:    "the campaign is paused",
	api.VerdictAdvertiserPaused:  "the advertiser is paused",
	api.VerdictNoAd:              "the ad group has no ad that can be shown",
	api.VerdictBudgetExhausted:   "the campaign has no budget left",
	api.VerdictThrottled:         "the campaign does not take part in this request, so that its budget lasts",
	api.VerdictNotStarted:        "the campaign has not started yet",
	api.VerdictEnded:             "the campaign has ended",
	api.VerdictOffSchedule:       "the campaign's schedule leaves out this time",
	api.VerdictLocationExcluded:  "the campaign excludes a place of the query",
	api.VerdictLocationUnknown:   "the campaign is targeted at places, and the query names none that counts",
	api.VerdictLocationMissed:    "the campaign is targeted at places, and none of them holds one of the query",
	api.VerdictLanguageMissed:    "the campaign is for other languages",
	api.VerdictAudienceExcluded:  "the campaign or ad group excludes a segment of the user",
	api.VerdictAudienceMissed:    "the campaign or ad group is targeted at segments, and the user is in none of them",
	api.VerdictSiteExcluded:      "the campaign or ad group excludes the page that asks",
	api.VerdictSiteMissed:        "the campaign or ad group is shown on other pages only",
	api.VerdictBlocked:           "the page that asks blocks it",
	api.VerdictNoBid:             "neither the keyword nor its ad group has a bid",
	api.VerdictDeviceOff:         "it is not shown on this device",
	api.VerdictBelowReserve:      "the bid is below the reserve",
	api.VerdictBlockedByNegative: "a negative keyword blocks it",
	api.VerdictScoredOut:         "the scorer’s factor is 0 in this request",
}

// counted is a verdict, the number of keywords that have it, and what it means.
type counted struct {
	Verdict api.Verdict
	N       int
	Text    string
}

// countedOf lists verdicts, the most frequent ones first.
func countedOf(all map[api.Verdict]int) (list []counted) {
	for _, v := range slices.Sorted(maps.Keys(all)) {
		if all[v] > 0 {
			list = append(list, counted{v, all[v], verdictTexts[v]})
		}
	}
	slices.SortStableFunc(list, func(a, b counted) int { return cmp.Compare(b.N, a.N) })
	return list
}

// whyEmpty lists the reasons why there are no ads.
func whyEmpty(why map[string]int) []counted {
	all := map[api.Verdict]int{}
	for v, n := range why {
		all[api.Verdict(v)] = n
	}
	return countedOf(all)
}

// placeNumber matches a place in the texts of an explanation.
var placeNumber = regexp.MustCompile(`\bplace ([0-9]{1,10})\b`)

// mostNames bounds the places that are named on a page.
const mostNames = 1000

// name looks up the names of the places that the factors of bids and the request mention, for Named.
func (c *Console) name(r *http.Request, l *queryPage) {
	numbers := map[string]bool{}
	note := func(text string) {
		for _, m := range placeNumber.FindAllStringSubmatch(text, -1) {
			if m[1][0] != '0' && len(numbers) < mostNames {
				numbers[m[1]] = true
			}
		}
	}
	for _, p := range l.Parts {
		for i := range p.Matches {
			for _, f := range p.Matches[i].Factors {
				note(f.Criterion)
			}
		}
	}
	for _, id := range slices.Concat(l.Asked["location"], l.Asked["interest_location"]) {
		note("place " + id)
	}
	l.names = c.namesOf(r, slices.Sorted(maps.Keys(numbers)))
}

// Named adds the names of the places that a text mentions.
func (l *queryPage) Named(text string) string {
	return placeNumber.ReplaceAllStringFunc(text, func(place string) string {
		id, _ := strconv.ParseUint(strings.TrimPrefix(place, "place "), 10, 32)
		if name := l.names[uint32(id)]; name != "" {
			return fmt.Sprintf("%s (%s)", name, place)
		}
		return place
	})
}

// Where returns sentences that say which places were asked for.
func (l *queryPage) Where() (list []string) {
	for _, of := range []struct{ param, text string }{{"location", "The user is in "}, {"interest_location", "The query is about "}} {
		for _, id := range l.Asked[of.param] {
			list = append(list, of.text+l.Named("place "+id)+".")
		}
	}
	return list
}
