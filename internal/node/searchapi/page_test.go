package searchapi

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"adshard/events/token"
	"adshard/fault"
	"adshard/internal/node/httpapi"
	"adshard/internal/node/httpapi/api"
	"adshard/internal/node/httpapi/apitest"
	"adshard/search"
)

// TestAPageIsAskedForAtOnce: placements that accept the same ads share a filter. A reserve below the configured one is raised to it.
func TestAPageIsAskedForAtOnce(t *testing.T) {
	f := &fake{answer: whole()}
	c := configured(f)
	c.List = func(name string) (uint64, error) {
		if name == "kids" {
			return 7, nil
		}
		return 0, fault.Newf(fault.Invalid, "test", "no list")
	}
	res, body := ask(t, New(c), post(`{"q":"a","slots":2,"per_advertiser":3,"block_advertisers":[9],"placements":[{"id":"1","slots":3,"reserve_micros":50000,"block":["kids","kids"]},`+
		`{"id":"2","reserve_micros":5},{"id":"3","slots":1},{"id":"4","slots":4,"block":["kids"],"reserve_micros":50000},{"id":"5","slots":5,"block":["none"]},`+
		`{"id":"6","slots":1,"block_categories":["b","a"],"block_domains":["A.example."],"block_uncategorised":true}]}`))
	if res.StatusCode != http.StatusOK {
		t.Fatal(res.StatusCode, body)
	}
	p := f.asked.Page
	b := p.Filters[2].Blocks[0]
	got := fmt.Sprint(f.asked.Slots, f.asked.Reserve, p.PerAdvertiser, len(p.Filters), p.Filters[0], p.Filters[1], p.Filters[2].Reserve, b.Domains.List(), b.Categories.List(), b.Uncategorised, f.asked.Context.Blocks[0].Advertisers.List())
	if want := "11 10000 3 3 {50000 [] [{kids 7 false}]} {10000 [] []} 10000 [a.example] [a b] true [9]"; got != want {
		t.Errorf("asked %s\nwant  %s", got, want)
	}
	if search.MaxPlacements != api.MaxPlacements {
		t.Error("the bounds of a body and of a page differ")
	}
}

// TestTokensOfPlacements: each ad on a page has a separate token.
func TestTokensOfPlacements(t *testing.T) {
	f := &fake{answer: whole(hit(7, 1, 2_000_000, 360_000), hit(9, 2, 1_500_000, 360_000), hit(8, 3, 100_000, 300_000))}
	for i := range f.answer.Hits {
		f.answer.Hits[i].Filters = 1
	}
	c := configured(f)
	c.EventKeys = oneKey(t)
	_, body := ask(t, New(c), post(`{"q":"a","placements":[{"id":"top","slots":1},{"id":"side","slots":2}]}`))
	seen := map[token.ID]bool{}
	for _, p := range searchAnswer(t, body).Placements {
		for i, ad := range p.Ads {
			v, id, err := c.EventKeys().Open([]byte(ad.EventToken))
			if err != nil || seen[id] || v.Keyword != ad.KeywordID || v.Price != ad.PriceMicros || int(v.Position) != i+1 {
				t.Errorf("%s: %+v, %v, seen before: %v", ad.EventToken, v, err, seen[id])
			}
			seen[id] = true
		}
	}
	if len(seen) != 3 {
		t.Errorf("%d tokens: %s", len(seen), body)
	}
}

// TestPagesFitTheDocument draws hits and placements, valid and invalid, and checks the answers against the API document. They must also
// equal what encoding/json makes of them again.
func TestPagesFitTheDocument(t *testing.T) {
	d := apitest.Read(t, httpapi.Spec)
	rapid.Check(t, func(t *rapid.T) {
		f := &fake{answer: drawAnswer(t), explain: &search.Explanation{}}
		f.explain.Counts[search.BelowReserve] = 3
		for i := range f.answer.Hits {
			f.answer.Hits[i].Filters = rapid.Uint8().Draw(t, "filters")
		}
		for range rapid.SampledFrom([]int{search.MaxPlacements, 0, 1}).Draw(t, "filters counted") {
			f.answer.Filtered = append(f.answer.Filtered, rapid.Uint64().Draw(t, "candidates"))
		}
		c := configured(f)
		c.Counter = f
		var list []string
		for range rapid.IntRange(0, 9).Draw(t, "placements") {
			list = append(list, rapid.SampledFrom([]string{
				`{"id":"top"}`, `{"id":"side","slots":1}`, `{"id":"low","slots":2,"reserve_micros":2000000}`, `{"id":"a\u00e4"}`, `{"id":"x","colour":1}`, `{}`, `[]`,
				`{"id":"y","block":["none"]}`, `{"id":"z","id":"z"}`, `{"id":"w","block_uncategorised":true,"slots":1}`, `{"id":"v","slots":[1]}`, `{"id":"u","block":[{}]}`,
			}).Draw(t, "placement"))
		}
		r := httptest.NewRequest(http.MethodPost, "/v1/search", strings.NewReader(`{"q":"a","why_empty":true,"placements":[`+strings.Join(list, ",")+`]}`))
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		New(c).ServeHTTP(w, r)
		d.Answers(t, "/v1/search", "POST", w.Result(), w.Body.String())
		if w.Code == http.StatusOK {
			again(t, w.Body.String(), new(api.SearchAnswer))
		}
		if w.Code >= 500 {
			t.Fatal(w.Body)
		}
	})
}
