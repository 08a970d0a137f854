package searchapi

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"adshard/fault"
	"adshard/internal/node/httpapi/api"
	"adshard/places"
)

// contextOf resolves the context of a body, or of a query string.
func contextOf(t *testing.T, request string) (resolved, error) {
	t.Helper()
	p := api.NewSearchParams()
	c := &call{Handler: &Handler{}, start: time.Date(2026, 3, 4, 12, 0, 0, 5, time.UTC)}
	c.List = func(name string) (uint64, error) {
		if name != "kids" {
			return 0, fault.Newf(fault.Invalid, "test", "no list")
		}
		return 7, nil
	}
	var err error
	if c.body = strings.HasPrefix(request, "{"); c.body {
		err = api.FromBody(p, []byte(request))
	} else {
		err = api.FromQuery(p, request)
	}
	if err != nil {
		return resolved{}, err
	}
	return c.resolve(searchContext(p))
}

// loggedContext returns the context of a body, or of a query string, as it is logged.
func loggedContext(t *testing.T, request string) string {
	t.Helper()
	b := api.NewSearchBody()
	err := api.FromQuery(b.SearchParams, request)
	if strings.HasPrefix(request, "{") {
		err = api.FromBody(b, []byte(request))
	}
	if err != nil {
		t.Fatal(err)
	}
	return saidOf(b, time.Date(2026, 3, 4, 12, 0, 0, 5, time.UTC))
}

// TestLoggedContext: logs contain the time of a request that names none, and no context for a request without one.
func TestLoggedContext(t *testing.T) {
	for request, want := range map[string]string{
		"q=a&slots=4&device=desktop&strict=true": "",
		"q=a&slots=3":                            "slots=3&time=2026-03-04T12%3A00%3A00Z",
		"q=a&audience=%C5%BEena":                 "audience=%C5%BEena&time=2026-03-04T12%3A00%3A00Z",
		`{"q":"a","point":{"lat":1,"lon":-2}}`:   "point=1%2C-2&time=2026-03-04T12%3A00%3A00Z",
	} {
		if got := loggedContext(t, request); got != want {
			t.Errorf("%s: %s, want %s", request, got, want)
		}
	}
}

func TestContext(t *testing.T) {
	for _, request := range []string{
		`{"q":"a","locations":[2203,1,2203],"interest_locations":[2840],"point":{"lat":50.087,"lon":-14.421},"time":"2026-03-31T08:00:00+02:00",` +
			`"languages":["Czech","en","cs"],"audiences":["b","a"],"site":"www.Shop.example/x/","block":["kids"],"block_advertisers":[3],` +
			`"block_domains":["A.example."],"block_categories":["alcohol/wine"],"block_uncategorised":true}`,
		"q=a&location=2203&location=1&interest_location=2840&point=50.087,-14.421&time=2026-03-31T08:00:00%2B02:00&language=Czech&language=en" +
			"&audience=b&audience=a&site=www.Shop.example/x/&block=kids&block_advertiser=3&block_domain=A.example.&block_category=alcohol/wine" +
			"&block_uncategorised=true",
	} {
		c, err := contextOf(t, request)
		if err != nil {
			t.Fatal(err)
		}
		b := c.Blocks[0]
		got := fmt.Sprint(c.Places, *c.Point, c.Time.Unix(), c.Languages, c.Audiences, *c.Site, c.Lists, b.Advertisers.List(), b.Domains.List(), b.Categories.List(), b.Uncategorised, c.unknown)
		want := "[{1 true false 1} {2203 true false 1} {2840 false true 1}] {50087000 -14421000} 1774936800 [cs en] [a b] shop.example/x [{kids 7 false}] " +
			"[3] [a.example] [alcohol/wine] true [1]"
		if got != want || c.version == "" {
			t.Errorf("%s\n%s, want\n%s", request, got, want)
		}
		if again := loggedContext(t, request); again != loggedContext(t, "q=a&"+again) {
			t.Errorf("%s is logged as %s, which means something else", request, again)
		} else if c2, err := contextOf(t, "q=a&"+again); err != nil || !reflect.DeepEqual(c, c2) {
			t.Errorf("%s: %+v, %v, want %+v", again, c2.Context, err, c.Context)
		}
	}
	c, err := contextOf(t, "q=a")
	if err != nil || c.Time != time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC) || len(c.Blocks) != 0 || c.version != "" {
		t.Errorf("without a context: %+v, %v", c, err)
	}
}

func TestBadContexts(t *testing.T) {
	many := func(format string, n int) string {
		var list []string
		for i := range n {
			list = append(list, fmt.Sprintf(format, i+1))
		}
		return strings.Join(list, ",")
	}
	for request, field := range map[string]string{
		"q=a&location=0": "location", "q=a&location=%2B1": "location", "q=a&location=4294967296": "location", `{"q":"a","locations":["1"]}`: "locations",
		`{"q":"a","locations":1}`: "locations", `{"q":"a","location":[1]}`: "location", "q=a&locations=1": "locations",
		`{"q":"a","locations":[` + many("%d", 17) + `]}`: "locations", "q=a&point=50": "point", "q=a&point=50.1234567,1": "point",
		"q=a&point=91,1": "point", `{"q":"a","point":{"lat":50}}`: "point", `{"q":"a","point":"50,14"}`: "point", "q=a&point=1,1&point=1,1": "point",
		"q=a&time=2026-03-31": "time", "q=a&time=1969-12-31T23:59:59Z": "time", "q=a&time=2101-01-01T00:00:00Z": "time",
		"q=a&time=2026-12-31T23:59:60Z": "time", "q=a&time=": "time", "q=a&time=2026-03-31T8:00:00Z": "time", "q=a&time=2026-03-31T08:00:00,5Z": "time", "q=a&site=a.example/%FF": "site",
		"q=a&audience=%FF": "audience", "q=a&block_domain=" + strings.Repeat("%E4%B8%80", 400): "block_domain", "q=a&language=All": "language", `{"q":"a","languages":["xx"]}`: "languages",
		"q=a&audience=": "audience", "q=a&audience=+a": "audience", `{"q":"a","audiences":[` + many(`"s%d"`, 257) + `]}`: "audiences",
		"q=a&site=": "site", "q=a&site=https://a.example": "site", "q=a&site=" + strings.Repeat("a", 513): "site",
		"q=a&block=none": "block", "q=a&block_advertiser=0": "block_advertiser", "q=a&block_domain=a.example/x": "block_domain",
		"q=a&block_category=A": "block_category", `{"q":"a","block_domains":[` + many(`"a%d.example"`, 1001) + `]}`: "block_domains",
		"q=a&block_uncategorised=1": "block_uncategorised",
	} {
		if _, err := contextOf(t, request); !fault.Is(err, fault.Invalid) || fault.FieldOf(err) != field {
			t.Errorf("%.80s: %v at %q, want Invalid at %q", request, err, fault.FieldOf(err), field)
		}
	}
	if _, err := contextOf(t, `{"q":"a","locations":[`+many("%d", 16)+`,1,2,3]}`); err != nil {
		t.Errorf("duplicates count once: %v", err)
	}
}

// TestNoTableYet: before the balancer has sent the table of places, a request that names places is refused, because in the built-in table a
// place could lack the places that contain it. Other requests are answered.
func TestNoTableYet(t *testing.T) {
	c := &call{Handler: &Handler{Config: Config{Places: func() *places.Table { return nil }}}}
	for request, refused := range map[string]bool{"q=a&location=2203": true, "q=a&interest_location=2203": true, "q=a&audience=x": false} {
		p := api.NewSearchParams()
		if err := api.FromQuery(p, request); err != nil {
			t.Fatal(err)
		}
		if _, err := c.resolve(searchContext(p)); fault.Is(err, fault.Unavailable) != refused || (err != nil) != refused {
			t.Errorf("%s: %v", request, err)
		}
	}
}
