package searchapi

import (
	"context"
	"flag"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"adshard/fault"
	"adshard/internal/node/httpapi/api"
	"adshard/search"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var rewrite = flag.Bool("rewrite", false, "rewrite the golden files")

var (
	took   = regexp.MustCompile(`"took_us":\d+`)
	stages = regexp.MustCompile(`"(expand|search|auction)_us":\d+`)
)

// golden compares a body, with its duration set to 812, with a file in testdata.
func golden(t *testing.T, name, body string) {
	t.Helper()
	body = stages.ReplaceAllString(took.ReplaceAllString(body, `"took_us":812`), `"${1}_us":17`)
	file := filepath.Join("testdata", name)
	if *rewrite {
		if err := os.WriteFile(file, []byte(body), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if body != string(want) {
		t.Errorf("%s:\n got %s\nwant %s", name, body, want)
	}
}

func TestGoldenAnswer(t *testing.T) {
	f := &fake{answer: whole(hit(7, 1, 2_000_000, 360_000), hit(9, 2, 1_500_000, 360_000), hit(8, 3, 100_000, 300_000))}
	h := New(configured(f))
	res, body := get(t, h, "/v1/search?q=usb+kabel&slots=2&counts=exact")
	if res.StatusCode != http.StatusOK || res.Header.Get("Content-Type") != "application/json" {
		t.Fatalf("%d %v", res.StatusCode, res.Header)
	}
	golden(t, "answer.json", body)
	if !f.asked.ExactCounts || f.asked.Slots != 2 || f.asked.Reserve != 10_000 || f.asked.Device != search.Desktop ||
		f.asked.Profile != search.DefaultProfile() || len(f.asked.Query.Words) != 2 || !f.deadline {
		t.Errorf("asked %+v", f.asked)
	}

	f.answer.CountsExact = false
	f.answer.Hits = nil
	f.answer.Width = search.Width{Lo: 1 << 63}
	f.answer.Answered, f.answer.Missing = 2, []search.Missing{{Shard: "slave-2", Reason: search.Late}}
	_, body = get(t, h, "/v1/search?q=usb+kabel")
	golden(t, "incomplete.json", body)
}

func TestPostEqualsGet(t *testing.T) {
	f := &fake{answer: whole(hit(7, 1, 2_000_000, 360_000))}
	h := New(configured(f))
	_, byGet := get(t, h, "/v1/search?q=a&slots=7&device=tablet&variants=folded&timeout_ms=50&strict=true&counts=exact")
	got := *f.asked
	_, byPost := ask(t, h, post(`{"q":"a","slots":7,"device":"tablet","variants":"folded","timeout_ms":50,"strict":true,"counts":"exact"}`))
	if took.ReplaceAllString(byGet, "") != took.ReplaceAllString(byPost, "") {
		t.Errorf("GET %s\nPOST %s", byGet, byPost)
	}
	if got.Slots != f.asked.Slots || got.Device != search.Tablet || f.asked.Device != search.Tablet ||
		got.Profile != search.DefaultProfile().Capped(search.Folded) || got.Profile != f.asked.Profile {
		t.Errorf("asked %+v and %+v", got, *f.asked)
	}
}

func TestQueriesWithoutAWordAndTruncated(t *testing.T) {
	f := &fake{answer: whole()}
	h := New(configured(f))
	for _, q := range []string{"", "+", "%21%3F...", "%CC%81"} {
		res, body := get(t, h, "/v1/search?q="+q)
		a := searchAnswer(t, body)
		if res.StatusCode != http.StatusOK || a.Ads == nil || len(a.Ads) != 0 || !a.Coverage.Complete || len(f.asked.Query.Terms) != 0 {
			t.Errorf("q=%q: %d %s", q, res.StatusCode, body)
		}
	}
	for n, want := range map[int]bool{32: false, 33: true} {
		_, body := get(t, h, "/v1/search?q="+strings.Repeat("w+", n))
		if a := searchAnswer(t, body); a.Truncated != want {
			t.Errorf("%d words: truncated %v", n, a.Truncated)
		}
	}
}

func TestStrictness(t *testing.T) {
	f := &fake{answer: whole()}
	f.answer.Width = search.Width{Lo: 5}
	f.answer.Answered, f.answer.Missing = 2, []search.Missing{{Shard: "slave-2", Reason: search.Late}}
	h := New(configured(f))
	res, body := get(t, h, "/v1/search?q=a&strict=true")
	refused(t, "strict", res, body, http.StatusServiceUnavailable, api.ErrorCodeIncomplete, "")
	if res.Header.Get("Retry-After") == "" || !strings.Contains(body, "slave-2") {
		t.Errorf("%v %s", res.Header, body)
	}
	res, body = get(t, h, "/v1/search?q=a&strict=false")
	if a := searchAnswer(t, body); res.StatusCode != http.StatusOK || a.Coverage.Complete || a.Coverage.PricesExact {
		t.Errorf("%d %s", res.StatusCode, body)
	}
	f.answer.Width = search.WholeRing()
	if res, body = get(t, h, "/v1/search?q=a&strict=true"); res.StatusCode != http.StatusOK {
		t.Errorf("%d %s", res.StatusCode, body)
	}
}

func TestFaultsOfTheSearcher(t *testing.T) {
	for kind, want := range map[fault.Kind]int{
		fault.Internal: 500, fault.Invalid: 400, fault.Unavailable: 503, fault.Deadline: 504, fault.Cancelled: 503,
		fault.Overloaded: 503, fault.Stale: 503, fault.Corrupt: 500, fault.Version: 500, fault.NotFound: 404,
		fault.Conflict: 409, fault.NoSpace: 503, fault.Locked: 503,
	} {
		f := &fake{err: fault.Newf(kind, "inner: op", "what to do")}
		res, body := get(t, New(configured(f)), "/v1/search?q=a")
		refused(t, kind.String(), res, body, want, api.ErrorCode(kind.String()), "")
		if strings.Contains(body, "inner") || (want == 503) != (res.Header.Get("Retry-After") != "") {
			t.Errorf("%v: %v %s", kind, res.Header, body)
		}
	}
}

func TestOverloadIsRefusedAtOnce(t *testing.T) {
	h, _, release := full(t)
	res, body := get(t, h, "/v1/search?q=a")
	refused(t, "overload", res, body, http.StatusServiceUnavailable, api.ErrorCodeOverloaded, "")
	if res.Header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
	release()
	if res, _ := get(t, h, "/v1/search?q=a"); res.StatusCode != http.StatusOK {
		t.Errorf("afterwards: %d", res.StatusCode)
	}
}

func TestDeadline(t *testing.T) {
	f := &fake{hold: make(chan struct{})}
	c := configured(f)
	c.DefaultTimeout = 30 * time.Millisecond
	for _, q := range []string{"q=a&timeout_ms=20", "q=a"} {
		res, body := get(t, New(c), "/v1/search?"+q) // the searcher waits for the deadline
		refused(t, q, res, body, http.StatusGatewayTimeout, api.ErrorCodeDeadline, "")
	}
	gone, cancel := context.WithCancel(context.Background())
	cancel()
	res, body := ask(t, New(c), httptest.NewRequest(http.MethodGet, "/v1/search?q=a", nil).WithContext(gone))
	refused(t, "cancelled", res, body, http.StatusServiceUnavailable, api.ErrorCodeCancelled, "")
}

func TestRequestIDs(t *testing.T) {
	f := &fake{answer: whole()}
	h := New(configured(f))
	for _, c := range []struct {
		given []string
		ok    bool
	}{
		{nil, true},
		{[]string{"a"}, true},
		{[]string{"a b~!\"\\"}, true},
		{[]string{strings.Repeat("x", 64)}, true},
		{[]string{strings.Repeat("x", 65)}, false},
		{[]string{""}, false},
		{[]string{"ä"}, false},
		{[]string{"a\tb"}, false},
		{[]string{"a\x7f"}, false},
		{[]string{"a", "a"}, false},
	} {
		r := httptest.NewRequest(http.MethodGet, "/v1/search?q=a", nil)
		r.Header["X-Request-Id"] = c.given
		res, body := ask(t, h, r)
		if !c.ok {
			if res.StatusCode != http.StatusBadRequest || !strings.Contains(body, `"field":"X-Request-Id"`) {
				t.Errorf("%q: %d %s", c.given, res.StatusCode, body)
			}
			continue
		}
		want := "made-1"
		if c.given != nil {
			want = c.given[0]
		}
		if a := searchAnswer(t, body); a.RequestID != want || res.Header.Get("X-Request-Id") != want || f.asked.RequestID != want {
			t.Errorf("%q: %s", c.given, body)
		}
	}
}

// TestOwnRequestIDs: a client cannot choose its request id on either query port, whether the id is
// valid or not.
func TestOwnRequestIDs(t *testing.T) {
	for _, path := range []string{"/v1/search?q=a", "/v1/explain?q=a"} {
		for _, given := range [][]string{nil, {"a"}, {strings.Repeat("x", 65)}, {""}, {"ä"}, {"a", "b"}} {
			f := &fake{answer: whole(), explain: &search.Explanation{Width: search.WholeRing()}}
			c := configured(f)
			c.OwnRequestIDs = true
			h := New(c)
			r := httptest.NewRequest(http.MethodGet, path, nil)
			r.Header["X-Request-Id"] = given
			res, body := ask(t, h, r)
			if res.StatusCode != http.StatusOK || res.Header.Get("X-Request-Id") != "made-1" || f.asked.RequestID != "made-1" {
				t.Errorf("%s with %q: %d %s", path, given, res.StatusCode, body)
			}
			if path != "/v1/search?q=a" || len(given) != 1 {
				continue
			}
			b := api.NewSearchBody()
			b.Q = "a"
			if got, err := h.Ask(t.Context(), b, search.Tags{}, given[0]); err != nil || got.Request.RequestID != "made-1" {
				t.Errorf("over gRPC with %q: %+v, %v", given, got.Request, err)
			}
		}
	}
}

func TestObserverSeesEveryRequest(t *testing.T) {
	var seen []Observation
	c := configured(&fake{answer: whole()})
	c.Observer = observerFunc(func(o *Observation) { seen = append(seen, *o) })
	h := New(c)
	get(t, h, "/v1/search?q=a")
	get(t, h, "/v1/search?q=a&slots=0")
	get(t, h, "/nothing")
	get(t, h, "/openapi.yaml")
	want := []Observation{{Operation: "search", Status: 200}, {Operation: "search", Status: 400}, {Operation: "none", Status: 404},
		{Operation: "openapi", Status: 200}}
	for i, w := range want {
		if i >= len(seen) || seen[i].Operation != w.Operation || seen[i].Status != w.Status || seen[i].Took <= 0 ||
			(seen[i].Err == nil) != (w.Status == 200) || (seen[i].Answer != nil) != (i == 0) {
			t.Errorf("%d: %+v", i, seen)
		}
	}
}

// TestObserverSeesWhy: an answer without ads that says why also tells the observer. No other answer
// does.
func TestObserverSeesWhy(t *testing.T) {
	var seen Observation
	f := &fake{answer: whole(), explain: new(search.Explanation)}
	f.explain.Counts[search.LocationMissed] = 12
	c := configured(f)
	c.Counter, c.Observer = f, observerFunc(func(o *Observation) { seen = *o })
	h := New(c)
	if _, body := get(t, h, "/v1/search?q=a&why_empty=true"); seen.Why == nil || seen.Why[search.LocationMissed] != 12 || !strings.Contains(body, `"why":{"location_missed":12}`) {
		t.Errorf("%v, %s", seen.Why, body)
	}
	for _, answer := range []*search.Answer{whole(), whole(hit(1, 1, 2_000_000, 500_000))} {
		f.answer = answer
		query := "/v1/search?q=a&why_empty=true"
		if len(answer.Hits) == 0 {
			query = "/v1/search?q=a"
		}
		if get(t, h, query); seen.Why != nil {
			t.Errorf("%s: %v", query, seen.Why)
		}
	}
}

// TestDefectIsOneFailure: a panic in the searcher results in a 500, and its place is released.
func TestDefectIsOneFailure(t *testing.T) {
	var seen Observation
	c := configured(nil)
	c.Searcher = defect{}
	c.MaxInFlight = 1
	c.Observer = observerFunc(func(o *Observation) { seen = *o })
	h := New(c)
	for range 2 {
		res, body := get(t, h, "/v1/search?q=a")
		refused(t, "defect", res, body, http.StatusInternalServerError, api.ErrorCodeInternal, "")
		if strings.Contains(body, "goroutine") || !strings.Contains(seen.Err.Error(), "goroutine") {
			t.Errorf("%s\n%v", body, seen.Err)
		}
	}
}

type defect struct{}

func (defect) Search(context.Context, *search.Request) (*search.Answer, error) { panic("out of range") }

type observerFunc func(*Observation)

func (f observerFunc) Observe(o *Observation) { f(o) }
