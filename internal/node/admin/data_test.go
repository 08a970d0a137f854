package admin_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"adshard/backend"
	"adshard/fault"
	"adshard/internal/node/access"
	"adshard/internal/node/admin"
	"adshard/internal/node/data"
	"adshard/internal/node/httpapi"
	"adshard/internal/node/httpapi/api"
	"adshard/internal/node/httpapi/apitest"
	"adshard/internal/node/metrics"
	"adshard/internal/node/nodetest"
)

// world is an admin port with a database. Every answer is checked against the document.
type world struct {
	*nodetest.Database
	url string
	http.Handler
	doc  *apitest.Document
	log  bytes.Buffer
	serv func(context.Context, uint64) error
}

const (
	operatorToken = "operator-operator-operator"
	secondToken   = "operator-number-two-number-two"
	readerToken   = "reader-reader-reader-reader"
)

func newWorld(t testing.TB) *world {
	t.Helper()
	w := &world{Database: nodetest.NewDatabase(t), doc: apitest.Read(t, httpapi.Spec), serv: func(context.Context, uint64) error { return nil }}
	tokens, err := access.ParseTokens([]byte("operator alice " + operatorToken + "\noperator bob " + secondToken + "\nreader eve " + readerToken))
	w.Must(err)
	log := slog.New(slog.NewTextHandler(&locked{b: &w.log}, nil))
	served := func(ctx context.Context, clock uint64) error { return w.serv(ctx, clock) }
	w.Handler = admin.New(admin.Config{
		Registry: metrics.NewRegistry(), Ready: func() []string { return nil }, Data: data.New(w.DB, served, log), Log: log,
		Gate: &access.Gate{Guard: access.Guard{Table: access.NewTable()}, Tokens: func() access.Tokens { return tokens }},
	})
	s := httptest.NewServer(w.Handler)
	t.Cleanup(s.Close)
	w.url = s.URL
	return w
}

// locked is a buffer that several goroutines share.
type locked struct {
	sync.Mutex
	b *bytes.Buffer
}

func (l *locked) Write(p []byte) (int, error) {
	l.Lock()
	defer l.Unlock()
	return l.b.Write(p)
}

// reply is an answer.
type reply struct {
	status int
	body   string
	header http.Header
}

// ask sends a request as the operator, unless the headers name another caller.
func (w *world) ask(method, path, body string, header ...string) reply {
	w.T.Helper()
	r, err := http.NewRequestWithContext(w.T.Context(), method, w.url+path, strings.NewReader(body))
	w.Must(err)
	r.Header.Set("Authorization", "Bearer "+operatorToken)
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	res, err := http.DefaultClient.Do(r)
	w.Must(err)
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	w.Must(err)
	w.doc.Answers(w.T, pattern(path), method, res, string(text))
	return reply{res.StatusCode, string(text), res.Header}
}

// pattern returns the path as the document has it.
func pattern(path string) string {
	path, _, _ = strings.Cut(path, "?")
	if parts := strings.Split(path, "/"); len(parts) == 4 {
		if parts[3] = "{id}"; parts[2] == "blocklists" {
			parts[3] = "{name}"
		}
		path = strings.Join(parts, "/")
	}
	return path
}

// must sends a request that must succeed.
func (w *world) must(method, path, body string, header ...string) reply {
	w.T.Helper()
	a := w.ask(method, path, body, header...)
	if a.status != http.StatusOK {
		w.T.Fatalf("%s %s %s: %d %s", method, path, body, a.status, a.body)
	}
	return a
}

func decode[T any](w *world, a reply) (v T) {
	w.T.Helper()
	w.Must(json.Unmarshal([]byte(a.body), &v))
	return v
}

func (w *world) changes(a reply) api.DataChanges { w.T.Helper(); return decode[api.DataChanges](w, a) }

// fill makes one entity of each kind. Each has the id 1, except the campaign's negative.
func (w *world) fill() {
	w.T.Helper()
	w.must("POST", "/v1/advertisers", `{"name":"Acme","time_zone":"Europe/Prague"}`)
	w.must("POST", "/v1/campaigns", `{"advertiser_id":1,"name":"Cables","languages":["Czech","en"],"daily_budget_micros":5000000,"mobile_bid_modifier":-12.5}`)
	w.must("POST", "/v1/groups", `{"campaign_id":1,"name":"USB","max_cpc_micros":0}`)
	w.must("POST", "/v1/keywords", `{"group_id":1,"text":"USB Cable","match_type":"phrase","quality_score":7}`)
	w.must("POST", "/v1/negatives", `{"group_id":1,"text":"free","match_type":"broad"}`)
	w.must("POST", "/v1/negatives", `{"campaign_id":1,"text":"used","match_type":"exact"}`)
	w.must("POST", "/v1/ads", `{"group_id":1,"headlines":["Cables"],"final_url":"https://a.example/"}`)
	w.must("POST", "/v1/blocklists", `{"name":"1","categories":["alcohol"]}`)
}

func (w *world) clock() uint64 {
	w.T.Helper()
	at, err := w.DB.Newest(w.T.Context())
	w.Must(err)
	return at.Clock
}

func TestDataFromCreationToRemoval(t *testing.T) {
	w := newWorld(t)
	w.fill()
	for path, want := range map[string]string{
		"/v1/advertisers/1":          `"name":"Acme","time_zone":"Europe/Prague","status":"enabled"`,
		"/v1/campaigns/1":            `"advertiser_id":1,`,
		"/v1/campaigns/1?":           `"mobile_bid_modifier":-12.5,"daily_budget_micros":5000000,"delivery_method":"accelerated","languages":["cs","en"]`,
		"/v1/groups/1":               `"max_cpc_micros":0`,
		"/v1/keywords/1?group=1":     `"text":"USB Cable","match_type":"phrase","quality_score":7,"status":"enabled"`,
		"/v1/negatives/1?group=1":    `"text":"free","match_type":"broad"`,
		"/v1/negatives/2?campaign=1": `"text":"used","match_type":"exact"`,
		"/v1/ads/1?group=1":          `"headlines":["Cables"]`,
	} {
		a := w.must("GET", path, "", "Authorization", "Bearer "+readerToken)
		it := decode[api.ItemAnswer](w, a)
		if !strings.Contains(a.body, want) || a.header.Get("ETag") != it.Item.Etag {
			t.Errorf("%s: %s, ETag %s", path, a.body, a.header.Get("ETag"))
		}
	}
	for _, c := range []struct{ path, body, want string }{
		{"/v1/advertisers/1", `{"status":"paused"}`, `"status":"paused"`},
		{"/v1/campaigns/1", `{"daily_budget_micros":null,"ad_rotation":"even"}`, `"ad_rotation":"even","status":"enabled"`},
		{"/v1/groups/1", `{"max_cpc_micros":70000,"tablet_bid_modifier":900}`, `"max_cpc_micros":70000,"tablet_bid_modifier":900`},
		{"/v1/keywords/1?group=1", `{"max_cpc_micros":1,"quality_score":null}`, `"max_cpc_micros":1,"quality_score":5`},
		{"/v1/negatives/1?group=1", `{"status":"paused"}`, `"status":"paused"`},
		{"/v1/negatives/2?campaign=1", `{"status":"paused"}`, `"status":"paused"`},
		{"/v1/ads/1?group=1", `{"status":"paused"}`, `"status":"paused"`},
	} {
		if a := w.must("PATCH", c.path, c.body); !strings.Contains(a.body, c.want) || !strings.Contains(a.body, `"effect":"updated"`) {
			t.Errorf("PATCH %s: %s", c.path, a.body)
		}
	}
	if a := w.must("GET", "/v1/campaigns/1", ""); strings.Contains(a.body, "daily_budget") {
		t.Errorf("the budget is still there: %s", a.body)
	}
	for _, path := range []string{"/v1/ads/1?group=1", "/v1/negatives/2?campaign=1", "/v1/negatives/1?group=1", "/v1/keywords/1?group=1",
		"/v1/groups/1", "/v1/campaigns/1", "/v1/advertisers/1"} {
		w.must("DELETE", path, "")
		for _, method := range []string{"GET", "DELETE"} {
			if a := w.ask(method, path, ""); a.status != http.StatusNotFound {
				t.Errorf("%s %s after its removal: %d %s", method, path, a.status, a.body)
			}
		}
	}
	if n, err := w.DB.Counts(t.Context()); err != nil || n != (backend.Counts{}) {
		t.Errorf("left: %+v, %v", n, err)
	}
	if text := w.log.String(); !strings.Contains(text, `by="operator alice"`) || !strings.Contains(text, `first="removed keyword 1"`) {
		t.Errorf("the log says %s", text)
	}
}

// wrongRequest is refused with a status, and the answer says what is wrong.
type wrongRequest struct {
	method, path, body string
	status             int
	says               string
	header             []string
}

func wrongCreations() []wrongRequest {
	deep := strings.Repeat(`[`, 8000)
	return []wrongRequest{
		{"POST", "/v1/advertisers", `{"name":"Acme"}`, 409, "advertiser 1", nil},
		{"POST", "/v1/campaigns", `{"advertiser_id":1,"name":"Cables"}`, 409, "campaign 1", nil},
		{"POST", "/v1/groups", `{"campaign_id":1,"name":"USB"}`, 409, "group 1", nil},
		{"POST", "/v1/keywords", `{"group_id":1,"text":"usb cable!","match_type":"phrase","max_cpc_micros":9}`, 409, "keyword 1", nil},
		{"POST", "/v1/negatives", `{"campaign_id":1,"text":"used","match_type":"exact"}`, 409, "negative 2", nil},
		{"POST", "/v1/ads", `{"group_id":1,"headlines":["Cables"],"final_url":"https://a.example/","status":"paused"}`, 409, "ad 1", nil},
		{"POST", "/v1/campaigns", `{"advertiser_id":9,"name":"x"}`, 404, "advertiser 9", nil},
		{"POST", "/v1/keywords", `{"group_id":9,"text":"x","match_type":"broad"}`, 404, "ad group 9", nil},
		{"POST", "/v1/keywords", `{"group_id":9223372036854775807,"text":"x","match_type":"broad"}`, 404, "", nil},
		{"POST", "/v1/keywords", `{"group_id":9223372036854775808,"text":"x","match_type":"broad"}`, 400, `"field":"group_id"`, nil},
		{"POST", "/v1/keywords", `{"group_id":18446744073709551616,"text":"x","match_type":"broad"}`, 400, `"field":"group_id"`, nil},
		{"POST", "/v1/keywords", `{"text":"x","match_type":"broad"}`, 400, `"field":"group_id"`, nil},
		{"POST", "/v1/campaigns", `{"name":"x"}`, 400, `"field":"advertiser_id"`, nil},
		{"POST", "/v1/groups", `{"name":"x"}`, 400, `"field":"campaign_id"`, nil},
		{"POST", "/v1/negatives", `{"campaign_id":1,"group_id":1,"text":"a","match_type":"exact"}`, 400, `"field":"group_id"`, nil},
		{"POST", "/v1/advertisers", `{"name":""}`, 400, `"field":"name"`, nil},
		{"POST", "/v1/advertisers", `{"name":"` + strings.Repeat("x", 1025) + `"}`, 400, `"field":"name"`, nil},
		{"POST", "/v1/advertisers", `{"name":"x","time_zone":"Mars"}`, 400, `"field":"time_zone"`, nil},
		{"POST", "/v1/advertisers", `{"name":"x","type":"campaign"}`, 400, `"field":"type"`, nil},
		{"POST", "/v1/advertisers", `{"name":"x","advertiser":"Acme"}`, 400, `"field":"advertiser"`, nil},
		{"POST", "/v1/advertisers", `{"name":"x","name":"y"}`, 400, `"field":"name"`, nil},
		{"POST", "/v1/advertisers", `{"name":"x","status":"removed"}`, 400, `"field":"status"`, nil},
		{"POST", "/v1/advertisers", `{"name":"\ud800"}`, 400, "", nil},
		{"POST", "/v1/advertisers", `{"name":"a\u0000"}`, 400, "", nil},
		{"POST", "/v1/advertisers", `{"name":` + deep, 400, "", nil},
		{"POST", "/v1/advertisers", `{"name":"x"} {}`, 400, "", nil},
		{"POST", "/v1/advertisers", `[]`, 400, "", nil},
		{"POST", "/v1/advertisers", `{"name":"` + strings.Repeat("x", 20_000) + `"}`, 413, "", nil},
		{"POST", "/v1/advertisers", `{"name":"x"}`, 415, "", []string{"Content-Type", "text/plain"}},
		{"POST", "/v1/advertisers", `{"name":"x"}`, 400, `"field":"If-Match"`, []string{"If-Match", `"0000000000000000"`}},
		{"POST", "/v1/advertisers", `{"name":"x"}`, 400, `"field":"Idempotency-Key"`, []string{"Idempotency-Key", "a b"}},
		{"POST", "/v1/advertisers", `{"name":"x"}`, 400, `"field":"Idempotency-Key"`, []string{"Idempotency-Key", strings.Repeat("k", 65)}},
		{"POST", "/v1/advertisers?wait=yes", `{"name":"x"}`, 400, `"field":"wait"`, nil},
		{"POST", "/v1/advertisers?wait=served&wait_ms=8001", `{"name":"x"}`, 400, `"field":"wait_ms"`, nil},
		{"POST", "/v1/advertisers", `{"name":"x"}`, 403, "", []string{"Authorization", "Bearer " + readerToken}},
		{"POST", "/v1/advertisers", `{"name":"x"}`, 401, "", []string{"Authorization", "Bearer nobody-nobody-nobody"}},
	}
}

func wrongChanges() []wrongRequest {
	return []wrongRequest{
		{"PATCH", "/v1/keywords/1?group=1", `{"status":"paused"}`, 403, "", []string{"Authorization", "Bearer " + readerToken}},
		{"DELETE", "/v1/advertisers/1", "", 403, "", []string{"Authorization", "Bearer " + readerToken}},
		{"PATCH", "/v1/advertisers/1", `{"name":"Other"}`, 400, `"field":"name"`, nil},
		{"PATCH", "/v1/keywords/1?group=1", `{"text":"other"}`, 400, `"field":"text"`, nil},
		{"PATCH", "/v1/keywords/1?group=1", `{"group_id":2}`, 400, `"field":"group_id"`, nil},
		{"PATCH", "/v1/ads/1?group=1", `{"headlines":["x"]}`, 400, `"field":"headlines"`, nil},
		{"PATCH", "/v1/keywords/1?group=1", `{}`, 400, "", nil},
		{"PATCH", "/v1/keywords/1?group=1", `{"max_cpc_micros":10000000001}`, 400, `"field":"max_cpc_micros"`, nil},
		{"PATCH", "/v1/keywords/1?group=1", `{"max_cpc_micros":-1}`, 400, `"field":"max_cpc_micros"`, nil},
		{"PATCH", "/v1/keywords/1?group=1", `{"daily_budget_micros":1}`, 400, `"field":"daily_budget_micros"`, nil},
		{"PATCH", "/v1/groups/1", `{"desktop_bid_modifier":901}`, 400, `"field":"desktop_bid_modifier"`, nil},
		{"PATCH", "/v1/campaigns/1", `{"budget_exhausted":true}`, 400, `"field":"budget_exhausted"`, nil},
		{"PATCH", "/v1/campaigns/1", `{"languages":["Klingon"]}`, 400, `"field":"languages"`, nil},
		{"PATCH", "/v1/keywords/1", `{"status":"paused"}`, 400, `"field":"group"`, nil},
		{"PATCH", "/v1/keywords/2?group=1", `{"status":"paused"}`, 404, "keyword 2", nil},
		{"PATCH", "/v1/keywords/0?group=1", `{"status":"paused"}`, 400, `"field":"id"`, nil},
		{"PATCH", "/v1/keywords/x?group=1", `{"status":"paused"}`, 400, `"field":"id"`, nil},
		{"PATCH", "/v1/keywords/1?group=1", `{"status":"paused"}`, 412, "ETag", []string{"If-Match", `"0000000000000000"`}},
		{"PATCH", "/v1/keywords/1?group=1", `{"status":"paused"}`, 412, "weak", []string{"If-Match", `W/"x"`}},
		{"PATCH", "/v1/keywords/1?group=1", `{"status":"paused"}`, 400, `"field":"If-Match"`, []string{"If-Match", `w/"x"`}},
		{"PATCH", "/v1/keywords/1?group=1", `{"status":"paused"}`, 400, `"field":"If-Match"`, []string{"If-Match", `"a"b"`}},
		{"PATCH", "/v1/keywords/1?group=1", `{"status":"paused"}`, 400, `"field":"If-Match"`, []string{"If-Match", `"a b"`}},
		{"DELETE", "/v1/groups/1", "", 412, "ETag", []string{"If-Match", `"0000000000000000"`}},
		{"DELETE", "/v1/groups/1", `{}`, 400, "no body", nil},
		{"DELETE", "/v1/negatives/1", "", 400, `"field":"group"`, nil},
		{"DELETE", "/v1/negatives/1?group=1&campaign=1", "", 400, `"field":"group"`, nil},
	}
}

func wrongReads() []wrongRequest {
	return []wrongRequest{
		{"GET", "/v1/groups/9223372036854775808", "", 400, `"field":"id"`, nil},
		{"GET", "/v1/keywords", "", 400, `"field":"group"`, nil},
		{"GET", "/v1/keywords?group=9", "", 404, "ad group 9", nil},
		{"GET", "/v1/keywords?group=1&limit=1001", "", 400, `"field":"limit"`, nil},
		{"GET", "/v1/keywords?group=1&group=1", "", 400, `"field":"group"`, nil},
		{"GET", "/v1/groups?advertiser=1", "", 400, `"field":"advertiser"`, nil},
		{"GET", "/v1/groups?cursor=1-1", "", 400, `"field":"cursor"`, nil},
		{"GET", "/v1/changes", "", 400, `"field":"after"`, nil},
		{"GET", "/v1/changes?after=x", "", 400, `"field":"after"`, nil},
		{"GET", "/v1/changes?after=&wait_ms=30001", "", 400, `"field":"wait_ms"`, nil},
		{"GET", "/v1/export?advertiser=9", "", 404, "advertiser 9", nil},
	}
}

// TestWrongDataRequests: each request is refused with the field at fault, and changes nothing.
func TestWrongDataRequests(t *testing.T) {
	w := newWorld(t)
	w.fill()
	before := w.clock()
	for _, c := range slices.Concat(wrongCreations(), wrongChanges(), wrongReads()) {
		a := w.ask(c.method, c.path, c.body, c.header...)
		if a.status != c.status || !strings.Contains(a.body, c.says) {
			t.Errorf("%s %s %.60s: %d %.300s; want %d and %s", c.method, c.path, c.body, a.status, a.body, c.status, c.says)
		}
	}
	if now := w.clock(); now != before {
		t.Errorf("the clock went from %d to %d", before, now)
	}
	w.must("POST", "/v1/advertisers", `{"name":"next"}`)
	if n, err := w.DB.Counts(t.Context()); err != nil || n.Advertisers != 2 || n.Keywords != 1 || n.Groups != 1 {
		t.Errorf("%+v, %v", n, err)
	}
}

// TestIfMatch: of many callers that have seen the same state, only one makes its change. Changes elsewhere do
// not matter; those within a group do.
func TestIfMatch(t *testing.T) {
	w := newWorld(t)
	w.fill()
	tag := w.must("GET", "/v1/keywords/1?group=1", "").header.Get("ETag")
	w.must("POST", "/v1/keywords", `{"group_id":1,"text":"beside","match_type":"broad"}`)
	var won, lost int
	var mu sync.Mutex
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			a := w.ask("PATCH", "/v1/keywords/1?group=1", fmt.Sprintf(`{"max_cpc_micros":%d}`, i+1), "If-Match", tag)
			mu.Lock()
			defer mu.Unlock()
			switch a.status {
			case http.StatusOK:
				won++
			case http.StatusPreconditionFailed:
				lost++
			default:
				t.Errorf("%d %s", a.status, a.body)
			}
		})
	}
	all.Wait()
	if won != 1 || lost != 7 {
		t.Errorf("%d won, %d lost", won, lost)
	}
	group := w.must("GET", "/v1/groups/1", "").header.Get("ETag")
	campaign := w.must("GET", "/v1/campaigns/1", "").header.Get("ETag")
	w.must("POST", "/v1/keywords", `{"group_id":1,"text":"more","match_type":"broad"}`)
	if a := w.ask("DELETE", "/v1/groups/1", "", "If-Match", group); a.status != http.StatusPreconditionFailed {
		t.Errorf("a group with another keyword is removed: %d %s", a.status, a.body)
	}
	w.Must(w.DB.SetBudget(t.Context(), 1, backend.BudgetMark{Exhausted: true}))
	w.must("PATCH", "/v1/campaigns/1", `{"status":"paused"}`, "If-Match", campaign) // a mark of its budget does not change the ETag
	w.must("PATCH", "/v1/campaigns/1", `{"status":"enabled"}`, "If-Match", "*")
	campaign = w.must("GET", "/v1/campaigns/1", "").header.Get("ETag")
	w.must("POST", "/v1/negatives", `{"campaign_id":1,"text":"cheap","match_type":"broad"}`)
	if a := w.ask("DELETE", "/v1/campaigns/1", "", "If-Match", campaign); a.status != http.StatusPreconditionFailed {
		t.Errorf("a campaign with another negative is removed: %d %s", a.status, a.body)
	}

	other := newWorld(t) // the same data in another database
	other.fill()
	if tag == other.must("GET", "/v1/keywords/1?group=1", "").header.Get("ETag") {
		t.Error("two databases have one ETag")
	}
}

// TestTwins: of several simultaneous requests with the same key, only one is carried out. The others get its
// answer, even those that found no receipt yet and waited for it.
func TestTwins(t *testing.T) {
	w := newWorld(t)
	w.fill()
	for round := range 40 {
		key, body := fmt.Sprint("twins-", round), fmt.Sprintf(`{"status":"%s"}`, []string{"paused", "enabled"}[round%2])
		var fresh atomic.Int64
		var all sync.WaitGroup
		start := make(chan struct{})
		for range 6 {
			all.Go(func() {
				<-start
				a := w.ask("PATCH", "/v1/campaigns/1", body, "Idempotency-Key", key) // making the change twice would not fail
				if a.status != http.StatusOK {
					t.Errorf("%d %s", a.status, a.body)
				} else if !w.changes(a).Replayed {
					fresh.Add(1)
				}
			})
		}
		close(start)
		all.Wait()
		if n := fresh.Load(); n != 1 {
			t.Fatalf("made %d times", n)
		}
	}
}

// TestRequestsSentAgain: a request with a key is carried out once, however often it is sent, even at the same
// time. Other requests and other callers are not affected.
func TestRequestsSentAgain(t *testing.T) {
	w := newWorld(t)
	w.fill()
	key := []string{"Idempotency-Key", "k1"}
	const body = `{"advertiser_id":1,"name":"Twice"}`
	var fresh int
	var mu sync.Mutex
	var all sync.WaitGroup
	for range 6 {
		all.Go(func() {
			a := w.ask("POST", "/v1/campaigns", body, key...)
			if a.status != http.StatusOK {
				t.Errorf("%d %s", a.status, a.body)
				return
			}
			c := w.changes(a)
			mu.Lock()
			defer mu.Unlock()
			if !c.Replayed {
				fresh++
			}
			if len(c.Changes) != 1 || c.Changes[0].ID != 2 || c.Changes[0].Item.Name != "Twice" {
				t.Errorf("%s", a.body)
			}
		})
	}
	all.Wait()
	if fresh != 1 {
		t.Errorf("made %d times", fresh)
	}
	at := w.clock()
	for _, c := range []struct {
		method, path, body string
		status             int
	}{
		{"POST", "/v1/campaigns", `{"advertiser_id":1,"name":"Other"}`, 409},
		{"POST", "/v1/advertisers", `{"name":"Twice"}`, 409},
		{"POST", "/v1/batch", `{"operations":[{"op":"create","type":"campaign","advertiser_id":1,"name":"Other"}]}`, 409},
	} {
		if a := w.ask(c.method, c.path, c.body, key...); a.status != c.status || !strings.Contains(a.body, "Idempotency-Key") {
			t.Errorf("%s %s: %d %s", c.method, c.path, a.status, a.body)
		}
	}
	if a := w.ask("POST", "/v1/campaigns", body, append(key, "Authorization", "Bearer "+secondToken)...); a.status != 409 || strings.Contains(a.body, "replayed") {
		t.Errorf("another operator has the same key: %d %s", a.status, a.body)
	}
	if w.clock() != at {
		t.Error("the clock moved")
	}
	// A request that failed was not carried out, and may be sent again.
	if a := w.ask("POST", "/v1/groups", `{"campaign_id":9,"name":"x"}`, "Idempotency-Key", "k2"); a.status != 404 {
		t.Errorf("%d %s", a.status, a.body)
	}
	w.must("POST", "/v1/groups", `{"campaign_id":2,"name":"x"}`, "Idempotency-Key", "k2")
	// A removal that is sent again finds its receipt, instead of failing because the entity is gone.
	for _, replayed := range []bool{false, true} {
		if c := w.changes(w.must("DELETE", "/v1/campaigns/2", "", "Idempotency-Key", "k3")); c.Replayed != replayed || c.Changes[0].Effect != api.DataEffectRemoved {
			t.Errorf("%+v", c)
		}
	}
	if c := w.changes(w.must("POST", "/v1/campaigns", body, key...)); !c.Replayed || c.Changes[0].Item != nil {
		t.Errorf("of a campaign that is gone: %+v", c)
	}
}

func TestBatches(t *testing.T) {
	w := newWorld(t)
	w.fill()
	group := w.must("GET", "/v1/groups/1", "").header.Get("ETag")
	a := w.must("POST", "/v1/batch", `{"operations":[
		{"op":"create","type":"keyword","group_id":1,"text":"hdmi","match_type":"exact"},
		{"op":"update","type":"group","id":1,"if_match":`+quoted(group)+`,"max_cpc_micros":5},
		{"op":"update","type":"keyword","id":1,"group_id":1,"status":"paused"},
		{"op":"remove","type":"negative","id":2,"campaign_id":1},
		{"op":"create","type":"campaign","advertiser_id":1,"name":"New"},
		{"op":"create","type":"negative","campaign_id":1,"text":"used","match_type":"exact"}]}`)
	var got []string
	for _, c := range w.changes(a).Changes {
		got = append(got, fmt.Sprint(c.Effect, " ", c.Type, " ", c.ID, " ", c.Item != nil))
	}
	want := "[created keyword 2 true updated group 1 true updated keyword 1 true removed negative 2 false created campaign 2 true created negative 3 true]"
	if fmt.Sprint(got) != want {
		t.Errorf("%v", got)
	}
	before := w.clock()
	first := `{"operations":[{"op":"update","type":"advertiser","id":1,"status":"paused"},`
	for _, c := range []struct {
		body   string
		status int
		says   string
	}{
		{first + `{"op":"update","type":"group","id":9,"status":"paused"}]}`, 404, "ad group 9"},
		{first + `{"op":"update","type":"keyword","id":9,"group_id":1,"status":"paused"}]}`, 404, `"field":"operations[1]"`},
		{first + `{"op":"update","type":"group","id":1,"if_match":` + quoted(group) + `,"status":"paused"}]}`, 412, `"field":"operations[1]"`},
		{first + `{"op":"create","type":"keyword","group_id":1,"text":"hdmi","match_type":"exact"}]}`, 409, `"field":"operations[1]"`},
		{first + `{"op":"create","type":"keyword","group_id":1,"text":"","match_type":"exact"}]}`, 400, `"field":"operations[1].text"`},
		{first + `{"op":"create","type":"keyword","id":3,"group_id":1,"text":"x","match_type":"exact"}]}`, 400, `"field":"operations[1].id"`},
		{first + `{"op":"rename","type":"keyword"}]}`, 400, `"field":"operations[1].op"`},
		{first + `{"op":"update","type":"shop","id":1}]}`, 400, `"field":"operations[1].type"`},
		{first + `{"op":"remove","type":"group","id":1,"status":"paused"}]}`, 400, `"field":"operations[1].status"`},
		{first + `{"op":"update","type":"keyword","group_id":1,"status":"paused"}]}`, 400, `"field":"operations[1].id"`},
		{first + `{"op":"update","type":"group","id":1,"if_match":null,"status":"paused"}]}`, 400, `"field":"operations[1].if_match"`},
		{first + `7]}`, 400, `"field":"operations[1]"`},
		{`{"operations":[{"op":"remove","type":"group","id":1},{"op":"update","type":"keyword","id":1,"group_id":1,"status":"enabled"}]}`, 409, "removes ad group 1"},
		{`{"operations":[{"op":"remove","type":"advertiser","id":1},{"op":"create","type":"keyword","group_id":1,"text":"y","match_type":"broad"}]}`, 409, "removes advertiser 1"},
		{`{"operations":[{"op":"remove","type":"keyword","id":1,"group_id":1},{"op":"update","type":"keyword","id":1,"group_id":1,"status":"enabled"}]}`, 409, "removes keyword 1"},
		{`{"operations":[]}`, 400, `"field":"operations"`},
		{`{"operations":{}}`, 400, `"field":"operations"`},
		{`{}`, 400, `"field":"operations"`},
		{`{"operations":[],"x":1}`, 400, `"field":"x"`},
		{`{"operations":[` + strings.TrimSuffix(strings.Repeat(`{"op":"create","type":"advertiser","name":"x"},`, 1001), ",") + `]}`, 400, "1 to 1000"},
		{`{"operations":"` + strings.Repeat("x", 1<<20) + `"}`, 413, ""},
	} {
		if a := w.ask("POST", "/v1/batch", c.body); a.status != c.status || !strings.Contains(a.body, c.says) {
			t.Errorf("%.200s: %d %s; want %d and %s", c.body, a.status, a.body, c.status, c.says)
		}
	}
	if now := w.clock(); now != before {
		t.Errorf("the clock went from %d to %d", before, now)
	}
}

func quoted(s string) string { return strings.ReplaceAll(fmt.Sprintf("%q", s), `\\"`, `\"`) }

// TestPagesUnderChanges: an entity that exists throughout is listed exactly once, and a cursor is valid only
// for its list.
func TestPagesUnderChanges(t *testing.T) {
	w := newWorld(t)
	w.Write(1, 25, 2, 5)
	var seen []uint64
	cursor := ""
	for i := 0; ; i++ {
		list := decode[api.ItemList](w, w.must("GET", "/v1/groups?campaign=1&limit=4"+cursor, ""))
		for _, it := range list.Items {
			seen = append(seen, it.ID)
		}
		if list.Next == "" {
			break
		}
		cursor = "&cursor=" + list.Next
		w.must("DELETE", fmt.Sprintf("/v1/groups/%d", i+1), "") // an entity that has been listed
		if i == 0 {
			w.must("DELETE", "/v1/groups/20", "")
			w.must("POST", "/v1/groups", `{"campaign_id":1,"name":"new"}`)
		}
	}
	if got := fmt.Sprint(seen); got != "[1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 21 22 23 24 25 26]" {
		t.Errorf("listed %v", got)
	}
	other := newWorld(t)
	other.Write(1, 25, 2, 5)
	for _, c := range []struct {
		w    *world
		path string
	}{{w, "/v1/groups?campaign=2"}, {w, "/v1/groups?limit=4"}, {w, "/v1/advertisers?limit=4"}, {w, "/v1/keywords?group=25"}, {other, "/v1/groups?campaign=1"}} {
		if a := c.w.ask("GET", c.path+cursor, ""); a.status != 400 || !strings.Contains(a.body, `"field":"cursor"`) {
			t.Errorf("%s with a cursor of another list: %d %s", c.path, a.status, a.body)
		}
	}
	for _, path := range []string{"/v1/keywords?group=25&limit=1", "/v1/ads?group=25&limit=1", "/v1/advertisers?limit=1", "/v1/campaigns?advertiser=1&limit=1"} {
		n := 0
		for cursor := ""; ; n++ {
			list := decode[api.ItemList](w, w.must("GET", path+cursor, ""))
			if list.Next == "" {
				n += len(list.Items)
				break
			}
			cursor = "&cursor=" + list.Next
		}
		if want := map[bool]int{true: 2, false: 1}[strings.Contains(path, "keywords")]; n != want {
			t.Errorf("%s: %d", path, n)
		}
	}
}

// TestChangeStream: every change is sent exactly once, in pages and while a client waits. A position that is
// too old, or of another history, is refused.
func TestChangeStream(t *testing.T) {
	w := newWorld(t)
	w.fill()
	read := func(path string) (lines []api.ChangeLine) {
		t.Helper()
		a := w.must("GET", path, "", "Authorization", "Bearer "+readerToken)
		if got := a.header.Get("Content-Type"); got != "application/x-ndjson" {
			t.Errorf("content type %s", got)
		}
		for text := range strings.Lines(a.body) {
			w.doc.Fits(t, "ChangeLine", text)
			var line api.ChangeLine
			w.Must(json.Unmarshal([]byte(text), &line))
			lines = append(lines, line)
		}
		return lines
	}
	all := read("/v1/changes?after=")
	if len(all) != int(w.clock()) || all[2].Type != "group" || all[2].AdvertiserID != 1 || all[2].CampaignID != 1 {
		t.Errorf("%+v", all)
	}
	var pages []api.ChangeLine
	for at := ""; len(pages) < len(all); at = pages[len(pages)-1].Position {
		pages = append(pages, read("/v1/changes?limit=2&after="+at)...)
	}
	if fmt.Sprint(pages) != fmt.Sprint(all) {
		t.Errorf("pages %+v", pages)
	}
	last := all[len(all)-1].Position
	later := make(chan []api.ChangeLine)
	go func() { later <- read("/v1/changes?wait_ms=20000&limit=1&after=" + last) }()
	time.Sleep(50 * time.Millisecond) // so that the client is waiting when the change arrives; the test is correct without it, too
	w.must("DELETE", "/v1/groups/1", "")
	if got := <-later; len(got) != 1 || !got[0].Removed {
		t.Errorf("%+v", got)
	}
	if got := read("/v1/changes?wait_ms=1&after=" + read("/v1/changes?after=" + last)[0].Position); len(got) != 0 {
		t.Errorf("%+v", got)
	}
	forged := last[:len(last)-16] + "0123456789abcdef"
	if a := w.ask("GET", "/v1/changes?after="+forged, ""); a.status != http.StatusConflict {
		t.Errorf("of another history: %d %s", a.status, a.body)
	}
	_, err := w.DB.Compact(t.Context(), 3, 0)
	w.Must(err)
	if a := w.ask("GET", "/v1/changes?after="+all[0].Position, ""); a.status != http.StatusGone || !strings.Contains(a.body, `"code":"stale"`) || a.header.Get("Retry-After") != "" {
		t.Errorf("too old: %d %s", a.status, a.body)
	}
}

// TestTooManyStreams: streams beyond the bound are refused at once.
func TestTooManyStreams(t *testing.T) {
	w := newWorld(t)
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	for range 16 {
		r, err := http.NewRequestWithContext(ctx, "GET", w.url+"/v1/changes?after=&wait_ms=30000", nil)
		w.Must(err)
		r.Header.Set("Authorization", "Bearer "+readerToken)
		res, err := http.DefaultClient.Do(r) // returns with the headers
		w.Must(err)
		all.Go(func() { _, _ = io.Copy(io.Discard, res.Body); res.Body.Close() })
	}
	if a := w.ask("GET", "/v1/changes?after=", ""); a.status != http.StatusServiceUnavailable || !strings.Contains(a.body, "overloaded") {
		t.Errorf("%d %s", a.status, a.body)
	}
	cancel()
	all.Wait()
	for until := time.Now().Add(5 * time.Second); ; time.Sleep(time.Millisecond) { // until the server notices
		if a := w.ask("GET", "/v1/changes?after=", ""); a.status == http.StatusOK {
			break
		} else if time.Now().After(until) {
			t.Fatalf("%d %s", a.status, a.body)
		}
	}
}

// TestWaitServed: 200 means that all slaves serve the change, and 202 that it is only durable.
func TestWaitServed(t *testing.T) {
	w := newWorld(t)
	var asked uint64
	w.serv = func(_ context.Context, clock uint64) error { asked = clock; return nil }
	c := w.changes(w.must("POST", "/v1/advertisers?wait=served", `{"name":"A"}`))
	if c.Served == nil || !*c.Served || asked != 1 {
		t.Errorf("%+v, waited for %d", c, asked)
	}
	w.serv = func(ctx context.Context, _ uint64) error {
		<-ctx.Done()
		return fault.New(fault.Behind, "test", ctx.Err())
	}
	begin := time.Now()
	a := w.ask("PATCH", "/v1/advertisers/1?wait=served&wait_ms=30", `{"status":"paused"}`)
	if a.status != http.StatusAccepted || time.Since(begin) > 5*time.Second || !strings.Contains(a.body, `"served":false`) || !strings.Contains(a.body, `"status":"paused"`) {
		t.Errorf("%d %s after %v", a.status, a.body, time.Since(begin))
	}
	if a := w.must("PATCH", "/v1/advertisers/1", `{"status":"enabled"}`); strings.Contains(a.body, "served") {
		t.Errorf("%s", a.body)
	}
}
