package searchapi

import (
	"encoding/json"
	"strings"
	"testing"

	"adshard/internal/node/httpapi/api"
	"adshard/places"
	"adshard/search"
	"adshard/targeting"
)

// TestReasonsOfTargeting: each verdict of targeting says in words what was decisive, to whom that belongs, and
// what to change.
func TestReasonsOfTargeting(t *testing.T) {
	request := &search.Request{Context: &targeting.Context{Languages: []string{"cs", "en"}, Audiences: []string{"a"}, Site: new(targeting.Page)}}
	silent := &search.Request{Context: new(targeting.Context)}
	for _, c := range []struct {
		verdict search.Verdict
		request *search.Request
		want    []string
	}{
		{search.NotStarted, request, []string{"starts on place 1", "earlier start date"}},
		{search.Ended, request, []string{"last day of its campaign was Czechia (place 2203)", "later end date"}},
		{search.OffSchedule, request, []string{"Czechia (place 2203)", "extend or remove the schedule"}},
		{search.LocationExcluded, request, []string{"excludes Czechia (place 2203)", "remove the exclusion"}},
		{search.LocationUnknown, request, []string{"Czechia (place 2203)", "send the location of the user"}},
		{search.LocationMissed, request, []string{"only in Czechia (place 2203)", "add one"}},
		{search.LanguageMissed, request, []string{"(cs, en)", "to the campaign"}},
		{search.AudienceExcluded, request, []string{`its ad group excludes the audience segment "place 2203"`, "remove the exclusion"}},
		{search.AudienceMissed, request, []string{"its ad group is shown only to users in place 2203", "none of the user's audience segments", "target one"}},
		{search.AudienceMissed, silent, []string{"names no audience segments", "send the user's"}},
		{search.SiteExcluded, request, []string{"its ad group excludes the site place 2203", "remove the exclusion"}},
		{search.SiteMissed, request, []string{"its ad group is shown only on place 2203", "add the page's site to its ad group"}},
		{search.SiteMissed, silent, []string{"names no page", "send the page's site"}},
		{search.Blocked, request, []string{"Czechia (place 2203)", "remove the block"}},
	} {
		text := "place 2203"
		if c.verdict == search.NotStarted {
			text = "place 1"
		}
		o := &targeting.Outcome{Criterion: targeting.Criterion{Text: text, OfGroup: true}}
		got := targeted(&search.Explained{Verdict: c.verdict, Context: o}, c.request, places.Countries())
		for _, part := range c.want {
			if !strings.Contains(got, part) {
				t.Errorf("%v: %s", c.verdict, got)
			}
		}
	}
	for by, want := range map[targeting.Criterion]string{
		{}: "the block from the request", {OfPlacement: true}: "the block from the placement",
		{OfList: true}: "the list out of the request", {OfList: true, OfPlacement: true}: "the list out of the placement",
	} {
		if got := unblock(by); !strings.HasSuffix(got, want) {
			t.Errorf("%+v%s", by, got)
		}
	}
	for v := range search.Verdict(search.Verdicts) {
		if v.OfTargeting() && targeted(&search.Explained{Verdict: v}, new(search.Request), places.Countries()) == "" {
			t.Errorf("%v without an outcome", v)
		}
	}
}

// TestFactorsOfExplanations: the device's factor comes first, those of targeting that fails do not count, and a clamped product is
// told.
func TestFactorsOfExplanations(t *testing.T) {
	at := &targeting.Outcome{Factors: targeting.Factors{Schedule: 1000, Location: 9000, Audience: 1000, Site: 1000}}
	at.By[1].Text = "place 2203"
	m := &search.Explained{Device: &search.DeviceFactor{Permille: 1500, OfGroup: true}, Modifier: 10_000, Clamped: true, Context: at}
	told := func() string {
		t.Helper()
		k := explainedKeyword(m, &search.Request{Device: search.Mobile}, places.Countries())
		text, err := json.Marshal(struct {
			Factors []api.TargetingFactor
			Clamped bool
		}{k.Factors, k.Clamped})
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	device := `{"dimension":"device","permille":1500,"criterion":"mobile","of_group":true}`
	if got, want := told(), `{"Factors":[`+device+`,{"dimension":"location","permille":9000,"criterion":"place 2203"}],"Clamped":true}`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	m.Clamped, at.Verdict = false, targeting.SiteMissed
	if got, want := told(), `{"Factors":[`+device+`],"Clamped":false}`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
