package console_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"adshard/fault"
	"adshard/internal/node/access"
	"adshard/internal/node/admin"
	"adshard/internal/node/admin/admintest"
	"adshard/internal/node/console"
	"adshard/internal/node/httpapi/api"
	"adshard/internal/node/metrics"
	"adshard/internal/node/searchapi"
	"adshard/search"
	"adshard/search/display"
)

// port is a complete admin port, as a browser sees it.
type port struct {
	control *admintest.Control
	found   *found
	memory  *console.Memory
	log     strings.Builder
	http.Handler
}

const (
	operatorToken = "operator-operator-operator"
	readerToken   = "reader-reader-reader-reader"
)

// newPort returns a port, which requires tokens if `tokens` is set. `with` adds to its
// configuration.
func newPort(t testing.TB, tokens bool, with ...func(*admin.Config)) *port {
	t.Helper()
	p := &port{control: admintest.NewControl(), found: newFound(), memory: new(console.Memory)}
	log := slog.New(slog.NewTextHandler(&p.log, nil))
	cfg := admin.Config{
		Registry: metrics.NewRegistry(), Ready: func() []string { return nil }, Control: p.control, Memory: p.memory, Log: log,
		Explain: searchapi.New(searchapi.Config{Searcher: p.found, Explainer: p.found, Counter: p.found, Reserve: 10_000,
			Scorer: func() search.ScorerID { return p.found.scorer }}),
	}
	if tokens {
		list, err := access.ParseTokens([]byte("operator alice " + operatorToken + "\nreader bob " + readerToken))
		if err != nil {
			t.Fatal(err)
		}
		cfg.Gate = &access.Gate{Guard: access.Guard{Table: access.NewTable()}, Tokens: func() access.Tokens { return list }}
	}
	for _, f := range with {
		f(&cfg)
	}
	p.Handler = admin.New(cfg)
	return p
}

// live records a day of history for a port: a hot eighth of the ring that moves around it, and
// slices that move as a result.
func (p *port) live(now time.Time) {
	const moments, parts = 288, 16
	for i := range moments {
		list, hot := new(api.SliceList), i*parts/moments
		for part := range parts {
			lo := uint64(part) << 60
			s := api.SliceInfo{Slice: uint64(1 + part), Lo: fmt.Sprintf("%016x", lo), Hi: fmt.Sprintf("%016x", lo|(1<<60-1)), Share: 0.5 / parts}
			s.Slave = fmt.Sprint("slave-", (part+max(0, i-part*moments/parts)/40)%3)
			if part == hot || part == hot-1 {
				s.Share = 4.5 / parts
			}
			list.Slices = append(list.Slices, s)
		}
		p.memory.History.Record(now.Add(time.Duration(i-moments+1)*5*time.Minute), list)
	}
}

// busy gives a port slices that cover the ring, and many events.
func (p *port) busy() {
	const width = 1 << 64 / 12
	list := &api.SliceList{View: 42, Total: 12, Measured: true}
	for i := range 12 {
		lo := uint64(i) * width
		s := api.SliceInfo{Slice: uint64(10 + i), Lo: fmt.Sprintf("%016x", lo), Hi: fmt.Sprintf("%016x", lo+width-1), Slave: fmt.Sprint("slave-", i*5%3),
			Items: uint64(180 + 37*i), Weight: 9000, Load: 100_000 - 8_000*float64(i), Share: 0.16 - 0.0136*float64(i), Hot: 3}
		list.Slices = append(list.Slices, s)
		p.control.Status.Events = append(p.control.Status.Events, api.Event{AgeMs: 4_000_000 + int64(i)*1_800_000, Slice: s.Slice,
			Text: fmt.Sprintf("has left slave-%d for slave-%d: %d ad groups", i%3, (i+1)%3, s.Items)})
	}
	hot := p.control.Slices.Slices[0]
	list.Slices[3].Dominant, list.Slices[3].Share, list.Slices[3].To = hot.Dominant, 0.3, "slave-2"
	p.control.Slices = list
}

// portOf returns an open port of a process that has a balancer, a master, both or neither.
func portOf(balancer, master bool) http.Handler {
	cfg := admin.Config{Registry: metrics.NewRegistry(), Ready: func() []string { return nil }, Log: slog.New(slog.DiscardHandler)}
	if balancer {
		cfg.Control = admintest.NewControl()
	}
	if master {
		f := newFound()
		cfg.Explain = searchapi.New(searchapi.Config{Searcher: f, Explainer: f})
	}
	return admin.New(cfg)
}

// browser sends requests and keeps one cookie.
type browser struct {
	t      testing.TB
	port   http.Handler
	cookie *http.Cookie
}

// get requests a page.
func (b *browser) get(path string) *httptest.ResponseRecorder {
	return b.send(http.MethodGet, path, nil)
}

// post sends a form as a page of the port would.
func (b *browser) post(path string, form url.Values) *httptest.ResponseRecorder {
	return b.send(http.MethodPost, path, form, "Sec-Fetch-Site", "same-origin", "Origin", "http://localhost:7001")
}

func (b *browser) send(method, path string, form url.Values, header ...string) *httptest.ResponseRecorder {
	b.t.Helper()
	r := httptest.NewRequestWithContext(context.Background(), method, "http://localhost:7001"+path, strings.NewReader(form.Encode()))
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	if b.cookie != nil && strings.HasPrefix(path, b.cookie.Path) {
		r.AddCookie(b.cookie)
	}
	w := httptest.NewRecorder()
	b.port.ServeHTTP(w, r)
	for _, c := range w.Result().Cookies() {
		if b.cookie = c; c.MaxAge < 0 {
			b.cookie = nil
		}
	}
	return w
}

// has fails the test unless a page has the given status and contains all the texts.
func has(t testing.TB, w *httptest.ResponseRecorder, status int, texts ...string) {
	t.Helper()
	if w.Code != status {
		t.Errorf("status %d, want %d", w.Code, status)
	}
	for _, text := range texts {
		if !strings.Contains(w.Body.String(), text) {
			t.Errorf("%q is not in the page", text)
		}
	}
	if t.Failed() {
		t.Log(w.Body)
	}
}

// lacks fails the test if a page contains any of the texts.
func lacks(t testing.TB, w *httptest.ResponseRecorder, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if strings.Contains(w.Body.String(), text) {
			t.Errorf("%q is in the page\n%s", text, w.Body)
		}
	}
}

// found is a searcher with fixed results: a winner, an ad that is blocked, and one below the
// reserve.
type found struct {
	single  bool // each shard has one replica, of its own name
	hits    []search.Hit
	matches []search.Explained
	missing []search.Missing
	scorer  search.ScorerID
	err     error
	asked   atomic.Pointer[search.Request] // the last request
}

func newFound() *found {
	f := &found{hits: []search.Hit{hit(1, 1, 3_000_000), hit(2, 2, 2_000_000)}}
	blocked, low := match(hit(7, 7, 500_000), search.BlockedByNegative), match(hit(9, 8, 1), search.BelowReserve)
	blocked.Negative, blocked.NegativeOwner, blocked.NegativeType = "free", "campaign", search.Phrase
	low.Bid, low.Effective = 5_000, 5_000
	f.matches = []search.Explained{match(f.hits[0], 0), match(f.hits[1], 0), blocked, low}
	return f
}

func hit(keyword, advertiser, bid uint64) search.Hit {
	return search.Hit{
		Keyword: keyword, Group: 100 + keyword, Campaign: 200 + advertiser, Advertiser: advertiser, Score: bid * 360_000, Quality: 360_000,
		Type: search.Broad, Level: search.Folded, Ad: 300 + keyword,
		Display: display.New("Čapek & Söhne", "Káble", "USB", "usb kabel", &display.Ad{
			Headlines: []string{"USB <cable>", "Cheap"}, Descriptions: []string{"1 m, black"}, FinalURL: "https://example.com/?a=1",
		}),
	}
}

func match(h search.Hit, v search.Verdict) search.Explained {
	return search.Explained{
		AdvertiserName: "Čapek & Söhne", CampaignName: "Káble", GroupName: "USB", KeywordText: "usb kabel",
		Hit: h, Verdict: v, Bid: 2_000_000, Modifier: 1000, Effective: 2_000_000, Shard: "slave-1", Slice: 4,
	}
}

// width returns the width of an answer: the whole ring, or nothing if a part is missing.
func (f *found) width() search.Width {
	if len(f.missing) > 0 {
		return search.Width{}
	}
	return search.WholeRing()
}

// Search implements search.Searcher.
func (f *found) Search(_ context.Context, r *search.Request) (*search.Answer, error) {
	f.asked.Store(r)
	for i, took := range []time.Duration{812, 391, 5000} {
		p := search.Part{Name: fmt.Sprint("shard-", i), Replica: fmt.Sprint("slave-", i), Began: time.Now(), Took: took * time.Microsecond}
		if f.single {
			p.Name = p.Replica
		}
		if i == 2 && len(f.missing) > 0 {
			p.Err = fault.Newf(fault.Deadline, "test", "it is late")
		}
		r.Timing.Add(p)
	}
	hits, filtered := slices.Clone(f.hits), []uint64(nil)
	if r.Page != nil { // all hits are candidates for every placement
		for i := range hits {
			hits[i].Filters = 1<<search.MaxPlacements - 1
		}
		filtered = slices.Repeat([]uint64{uint64(len(hits))}, len(r.Page.Filters))
	}
	return &search.Answer{Hits: hits, Filtered: filtered, Matched: uint64(len(f.matches)), Candidates: uint64(len(f.hits)), CountsExact: true, Width: f.width(),
		View: 1, Shards: 3, Answered: 3 - len(f.missing), Missing: f.missing}, f.err
}

// Explain implements search.Explainer.
func (f *found) Explain(_ context.Context, r *search.Request, _ int) (*search.Explanation, error) {
	list := slices.Clone(f.matches)
	if r.Wanted.Any() {
		other := match(search.Hit{Keyword: 20, Group: 120, Campaign: 209, Advertiser: 9, Type: search.Phrase, Level: search.NoLevel}, search.Unmatched)
		other.AdvertiserName, other.KeywordText = "Shoes <", "boty"
		other.Mismatch, other.MismatchWords = search.WordsMissing, []string{"boty"}
		list = slices.DeleteFunc(append(list, other), func(m search.Explained) bool { return !r.Wanted.Has(&m) })
	}
	e := &search.Explanation{Total: uint64(len(list)), Matches: list, Width: f.width(), Missing: f.missing}
	for _, m := range list {
		e.Counts[m.Verdict]++
	}
	return e, f.err
}
