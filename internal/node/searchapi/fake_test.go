package searchapi

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"adshard/internal/node/httpapi"
	"adshard/internal/node/httpapi/api"
	"adshard/search"
	"adshard/search/display"
)

// fake is a searcher and explainer with fixed answers. It records the last request.
type fake struct {
	parts    []search.Part // of each search
	asked    *search.Request
	reasons  *search.Request // of the explanation asked for last
	deadline bool
	answer   *search.Answer
	explain  *search.Explanation
	err      error
	hold     chan struct{} // searches wait for it, or for their deadline
}

func (f *fake) Search(ctx context.Context, r *search.Request) (*search.Answer, error) {
	f.asked = r
	_, f.deadline = ctx.Deadline()
	if f.hold != nil {
		select {
		case <-f.hold:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	for _, p := range f.parts {
		r.Timing.Add(p)
	}
	return f.answer, f.err
}

func (f *fake) Explain(_ context.Context, r *search.Request, _ int) (*search.Explanation, error) {
	f.reasons = r
	return f.explain, f.err
}

// hit returns a hit with a score of bid × quality.
func hit(keyword, advertiser, bid, quality uint64) search.Hit {
	return search.Hit{
		Keyword: keyword, Group: 100 + keyword, Campaign: 200 + advertiser, Advertiser: advertiser,
		Score: bid * quality, Quality: quality, Type: search.Broad, Level: search.Folded,
		Ad: 300 + keyword,
		Display: display.New("Čapek & Söhne", "Káble", "USB", "usb kabel", &display.Ad{
			Headlines: []string{"USB <cable>", "Cheap"}, Descriptions: []string{"1 m, \"black\""},
			Path1: "usb", Path2: "cables", FinalURL: "https://example.com/?a=1&b=2",
		}),
	}
}

func whole(hits ...search.Hit) *search.Answer {
	return &search.Answer{
		Hits: hits, Matched: 46, Candidates: 31, CountsExact: true, Width: search.WholeRing(), View: 1,
		AppliedClock: 123456, Shards: 3, Answered: 3,
	}
}

func configured(f *fake) Config {
	return Config{Searcher: f, Explainer: f, Names: httpapi.Names{"example.com"}, Reserve: 10_000, NewRequestID: func() string { return "made-1" }}
}

// ask sends a request to a handler and returns the response with its body.
func ask(t *testing.T, h http.Handler, r *http.Request) (*http.Response, string) {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	body, err := io.ReadAll(w.Result().Body)
	if err != nil {
		t.Fatal(err)
	}
	return w.Result(), string(body)
}

func get(t *testing.T, h http.Handler, url string) (*http.Response, string) {
	t.Helper()
	return ask(t, h, httptest.NewRequest(http.MethodGet, url, nil))
}

func post(body string) *http.Request {
	r := httptest.NewRequest(http.MethodPost, "/v1/search", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	return r
}

// strictly decodes JSON and refuses unknown fields.
func strictly(t *testing.T, body string, v any) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		t.Fatalf("%v in %s", err, body)
	}
}

func searchAnswer(t *testing.T, body string) *api.SearchAnswer {
	t.Helper()
	a := new(api.SearchAnswer)
	strictly(t, body, a)
	return a
}
