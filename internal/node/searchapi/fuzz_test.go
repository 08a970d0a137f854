package searchapi

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"

	"adshard/internal/node/httpapi"
	"adshard/internal/node/httpapi/apitest"
)

// FuzzParameters sends any query string, body and request id. The answer is either 200 and contains
// the query, or an error that the API document defines.
func FuzzParameters(f *testing.F) {
	for _, s := range []string{
		"q=usb+cable&slots=4", "q=%ff", "q=a;b&&slots=20&strict=true", "q=a&q=b", "%zz", "q=%F0%9F%98%80&counts=exact&timeout_ms=5000",
		"q=a&device=tablet&variants=folded", "=&=", "q=a%00b",
	} {
		f.Add(s, `{"q":"a","slots":4}`, "id-1")
	}
	f.Add("", `{"q":"\ud83d\ude00","strict":true,"timeout_ms":5}`, "")
	f.Add("", `{"q":"\ud800"}`, "\x80")
	f.Add("", `{"q":{"q":[1,2,{}]},"slots":1e400}`, strings.Repeat("x", 65))
	f.Add("", `{"q":"a","per_advertiser":2,"placements":[{"id":"top","slots":3,"reserve_micros":50000,"block_domains":["a.example"]},{"id":"side"},{"id":1}]}`, "")
	d := apitest.Read(f, httpapi.Spec)
	h := New(Config{Searcher: &fake{answer: whole(hit(1, 1, 1_000_000, 360_000))}})
	f.Fuzz(func(t *testing.T, query, body, id string) {
		get := httptest.NewRequest(http.MethodGet, "/v1/search", nil)
		get.URL.RawQuery = query
		byPost := post(body)
		for _, r := range []*http.Request{get, byPost} {
			if id != "" {
				r.Header["X-Request-Id"] = []string{id}
			}
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			d.Answers(t, "/v1/search", r.Method, w.Result(), w.Body.String())
			if w.Code >= 500 {
				t.Errorf("%d %s", w.Code, w.Body)
			}
			if w.Code == http.StatusOK && r == get {
				if q := searchAnswer(t, w.Body.String()).Query; q != queryOf(query) || !utf8.ValidString(q) {
					t.Errorf("%q became %q", query, q)
				}
			}
		}
	})
}

// queryOf is q as net/url reads it, ; being an ordinary character.
func queryOf(query string) string {
	v, err := url.ParseQuery(strings.ReplaceAll(query, ";", "%3B"))
	if err != nil {
		return "\xff"
	}
	return v.Get("q")
}
