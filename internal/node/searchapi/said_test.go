package searchapi

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"adshard/fault"
	"adshard/internal/node/httpapi/api"
	"adshard/search"
)

// TestWhatIsLoggedAsksTheSame: a page that is repeated from its line in a query log, valid or not, with or without a context, sends the
// same request to the shards and gets the same answer.
func TestWhatIsLoggedAsksTheSame(t *testing.T) {
	f := &fake{}
	var logged string
	c := configured(f)
	c.Arrived = func(_, context, _ string) { logged = context }
	c.List = func(name string) (uint64, error) {
		if name == "kids" {
			return 7, nil
		}
		return 0, fault.Newf(fault.Invalid, "test", "no list")
	}
	h := New(c)
	took := regexp.MustCompile(`"(took_us|lag_ms)":\d+`)
	rapid.Check(t, func(t *rapid.T) {
		f.answer = drawAnswer(t)
		for i := range f.answer.Hits {
			f.answer.Hits[i].Filters = rapid.Uint8().Draw(t, "filters")
		}
		f.answer.Filtered = make([]uint64, search.MaxPlacements)
		body := drawSaid(t)
		first, want := posted(h, body), f.asked
		line := logged
		params, err := url.ParseQuery(line)
		if err != nil {
			t.Fatal(err)
		}
		params.Set("q", "a")
		again, err := json.Marshal(api.BodyOf(params))
		if err != nil {
			t.Fatal(err)
		}
		second := posted(h, string(again))
		if first.Code != second.Code || took.ReplaceAllString(first.Body.String(), "") != took.ReplaceAllString(second.Body.String(), "") {
			t.Fatalf("%s\nlogged as %s:\n%s\n%s", body, line, first.Body, second.Body)
		}
		if first.Code == http.StatusOK && (!reflect.DeepEqual(want.Page, f.asked.Page) || want.Slots != f.asked.Slots || want.Device != f.asked.Device ||
			!reflect.DeepEqual(want.Profile, f.asked.Profile) || params.Has("time") && !reflect.DeepEqual(want.Context, f.asked.Context)) {
			t.Fatalf("%s\nlogged as %s, asks\n%+v, not\n%+v", body, line, f.asked, want)
		}
	})
}

func posted(h http.Handler, body string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, post(body))
	return w
}

// drawSaid draws the body of a search, most of them with placements.
func drawSaid(t *rapid.T) string {
	fields := []string{`"q":"a"`}
	for _, choices := range [][]string{
		{`"device":"mobile"`}, {`"variants":"folded"`}, {`"slots":2`}, {`"locations":[2203,1]`, `"locations":[0]`}, {`"point":{"lat":1,"lon":-2}`},
		{`"block":["kids"]`}, {`"block_advertisers":[7]`, `"block_uncategorised":true`}, {`"audiences":["a&b","č"]`}, {`"time":"2026-03-04T12:00:00Z"`},
		{`"per_advertiser":2`},
	} {
		if rapid.Bool().Draw(t, "said") {
			fields = append(fields, rapid.SampledFrom(choices).Draw(t, "field"))
		}
	}
	var list []string
	for i := range rapid.IntRange(0, search.MaxPlacements).Draw(t, "placements") {
		list = append(list, rapid.SampledFrom([]string{
			fmt.Sprintf(`{"id":"p%d","slots":1}`, i), fmt.Sprintf("{\n\t\"id\":\"p%d\"}", i), `{"id":"top","slots":2,"reserve_micros":2000000,"block":["kids"]}`,
			`{"id":"x&y=\u003c","slots":1,"block_domains":["a.example"]}`, `{}`, `{"id":"z","id":"z"}`, `{"id":"none","block":["none"]}`, `{"id":"v","slots":[1]}`,
		}).Draw(t, "placement"))
	}
	if len(list) > 0 {
		fields = append(fields, `"placements":[`+strings.Join(list, ",")+`]`)
	}
	return "{" + strings.Join(fields, ",") + "}"
}
