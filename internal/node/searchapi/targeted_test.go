package searchapi

import (
	"strings"
	"testing"

	"adshard/search"
	"adshard/targeting"
)

// TestReasonsOfTargeting: each verdict of targeting says in words what decided, whose it is, and what to change.
func TestReasonsOfTargeting(t *testing.T) {
	request := &search.Request{Context: &targeting.Context{Languages: []string{"cs", "en"}}}
	for v, want := range map[search.Verdict][]string{
		search.NotStarted:       {"starts on X", "earlier start date"},
		search.Ended:            {"ended with X", "later end date"},
		search.OffSchedule:      {"no interval for X", "add one"},
		search.LocationExcluded: {"excludes X", "remove the exclusion"},
		search.LocationUnknown:  {"the request names none", "send a location"},
		search.LocationMissed:   {"none of them holds one of the request", "add one"},
		search.LanguageMissed:   {"(cs, en)", "to the campaign"},
		search.AudienceExcluded: {`its ad group excludes the audience segment "X"`, "remove the exclusion"},
		search.AudienceMissed:   {"its ad group is targeted at audience segments", "add one"},
		search.SiteExcluded:     {"its ad group excludes the site X", "remove the exclusion"},
		search.SiteMissed:       {"its ad group is shown only on the sites", "include its site"},
		search.Blocked:          {"the request blocks X", "who runs the page"},
	} {
		if !v.OfTargeting() {
			t.Errorf("%v is not of targeting", v)
		}
		o := &targeting.Outcome{Criterion: targeting.Criterion{Text: "X", OfGroup: true}}
		got := targeted(&search.Explained{Verdict: v, Context: o}, request)
		for _, part := range want {
			if !strings.Contains(got, part) {
				t.Errorf("%v: %s", v, got)
			}
		}
	}
	for v := range search.Verdict(search.Verdicts) {
		if v.OfTargeting() && targeted(&search.Explained{Verdict: v}, new(search.Request)) == "" {
			t.Errorf("%v without an outcome", v)
		}
	}
}
