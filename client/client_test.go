package client_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"adshard/client"
	"adshard/internal/node/admin"
	"adshard/internal/node/data"
	"adshard/internal/node/metrics"
	"adshard/internal/node/nodetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// serve runs a server until the test ends, and counts the requests.
func serve(t testing.TB, h http.HandlerFunc) (url string, asked *atomic.Int32) {
	t.Helper()
	asked = new(atomic.Int32)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		h(w, r)
	}))
	t.Cleanup(s.Close)
	return s.URL, asked
}

func newClient(t testing.TB, cfg client.Config) *client.Client {
	t.Helper()
	cfg.Pause = time.Millisecond
	c, err := client.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

const answer = `{"query":"x","ads":[],"coverage":{"complete":true}}`

func ok(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, answer) }

func refuses(status int, code string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = fmt.Fprintf(w, `{"error":{"code":%q,"message":"it is so","field":"f"}}`, code)
	}
}

// TestAnotherMaster: after a temporary failure the request goes to another master, after a lasting one it does
// not.
func TestAnotherMaster(t *testing.T) {
	for _, c := range []struct {
		name  string
		first http.HandlerFunc
		again bool
	}{
		{"overloaded", refuses(503, "overloaded"), true},
		{"unavailable", refuses(503, "unavailable"), true},
		{"behind", refuses(503, "behind"), true},
		{"cut off", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, true},
		{"a proxy's 502", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(502) }, true},
		{"invalid", refuses(400, "invalid"), false},
		{"forbidden", refuses(403, "forbidden"), false},
		{"deadline", refuses(504, "deadline"), false},
		{"incomplete", refuses(503, "incomplete"), false},
	} {
		bad, askedBad := serve(t, c.first)
		good, _ := serve(t, ok)
		cl := newClient(t, client.Config{Masters: []string{bad, good}})
		for range 4 {
			_, err := cl.Search(t.Context(), client.SearchRequest{Query: "x"})
			var e *client.Error
			if c.again && err != nil || !c.again && err != nil && (!errors.As(err, &e) || e.Code != c.name || e.Field != "f") {
				t.Errorf("%s: %v", c.name, err)
			}
		}
		if n := askedBad.Load(); c.again && c.name != "cut off" && n != 2 || n == 0 || !c.again && n != 2 {
			t.Errorf("%s: asked %d times", c.name, n)
		}
	}
}

// TestADeadMasterIsAskedLast: each of many searches is answered, and only one of them is sent to the dead master.
func TestADeadMasterIsAskedLast(t *testing.T) {
	dead := httptest.NewServer(nil)
	dead.Close()
	good, asked := serve(t, ok)
	cl := newClient(t, client.Config{Masters: []string{dead.URL, good}, Tries: 2})
	for range 20 {
		if _, err := cl.Search(t.Context(), client.SearchRequest{Query: "x"}); err != nil {
			t.Fatal(err)
		}
	}
	if asked.Load() != 20 {
		t.Errorf("asked %d times", asked.Load())
	}
}

// TestTriesEnd: the last error is returned after the configured number of tries, or at once if the caller gives
// up.
func TestTriesEnd(t *testing.T) {
	bad, asked := serve(t, refuses(503, "overloaded"))
	cl := newClient(t, client.Config{Masters: []string{bad}, Tries: 3})
	_, err := cl.Search(t.Context(), client.SearchRequest{Query: "x"})
	var e *client.Error
	if !errors.As(err, &e) || e.Code != "overloaded" || !e.Temporary() || asked.Load() != 3 {
		t.Errorf("%v after %d tries", err, asked.Load())
	}
	slow, err := client.New(client.Config{Masters: []string{bad}, Tries: 3, Pause: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	defer slow.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := slow.Search(ctx, client.SearchRequest{Query: "x"}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
}

func TestWrongConfig(t *testing.T) {
	_, err := client.New(client.Config{Masters: []string{"10.0.0.5:8080"}, Balancers: []string{"ftp://x"}})
	if err == nil || !strings.Contains(err.Error(), "Masters") || !strings.Contains(err.Error(), "Balancers") {
		t.Errorf("%v", err)
	}
	cl := newClient(t, client.Config{})
	if _, err := cl.Events(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "Collectors") {
		t.Errorf("%v", err)
	}
}

// TestWhatIsSent: requests carry everything they were given, and connections are reused.
func TestWhatIsSent(t *testing.T) {
	var got, from []string
	url, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		got = append(got, r.Method+" "+r.URL.String()+" "+string(text)+r.Header.Get("X-Request-Id")+r.Header.Get("X-Priority")+r.Header.Get("X-Tenant"))
		from = append(from, r.RemoteAddr)
		_, _ = io.WriteString(w, "{}")
	})
	cl := newClient(t, client.Config{Masters: []string{url + "/"}, Collectors: []string{url}})
	r := client.SearchRequest{Query: "a b", Slots: 3, Device: "mobile", Variants: "folded", TimeoutMS: 9, Strict: true, MinClock: "1-0000000000000002",
		RequestID: "i", LowPriority: true, Tenant: "t"}
	_, err1 := cl.Search(t.Context(), r)
	_, err2 := cl.Explain(t.Context(), client.ExplainRequest{SearchRequest: r, Limit: 5, Offset: 6, WhyNot: "7"})
	_, err3 := cl.Events(t.Context(), []client.Event{{Kind: "click", Token: "x"}})
	where := client.Context{
		Locations: []uint32{1, 2}, InterestLocations: []uint32{3}, Point: "50.087,14.421", Time: time.Date(2026, 3, 31, 8, 0, 0, 0, time.UTC),
		Languages: []string{"cs"}, Audiences: []string{"s"}, Site: "d.example/x", Block: []string{"kids"}, BlockAdvertisers: []uint64{4},
		BlockDomains: []string{"c.example"}, BlockCategories: []string{"casino"}, BlockUncategorised: true,
	}
	_, err4 := cl.Search(t.Context(), client.SearchRequest{Query: "a", Context: where})
	page := r
	page.Context, page.PerAdvertiser, page.WhyEmpty, page.Placements = where, 2, true, []client.Placement{{ID: "top", Slots: 3, ReserveMicros: 50_000, Block: []string{"kids"}}, {ID: "side"}}
	_, err5 := cl.Search(t.Context(), page)
	page.Context.Point = "50.087"
	if _, err := cl.Search(t.Context(), page); err == nil || !strings.Contains(err.Error(), "Point") {
		t.Errorf("a wrong point: %v", err)
	}
	want := []string{
		"GET /v1/search?device=mobile&min_clock=1-0000000000000002&q=a+b&slots=3&strict=true&timeout_ms=9&variants=folded ilowt",
		"GET /v1/explain?device=mobile&limit=5&offset=6&q=a+b&slots=3&timeout_ms=9&variants=folded&why_not=7 ilowt",
		`POST /v1/events {"events":[{"kind":"click","token":"x"}]}`,
		"GET /v1/search?audience=s&block=kids&block_advertiser=4&block_category=casino&block_domain=c.example&block_uncategorised=true" +
			"&interest_location=3&language=cs&location=1&location=2&point=50.087%2C14.421&q=a&site=d.example%2Fx&time=2026-03-31T08%3A00%3A00Z ",
		`POST /v1/search {"audiences":["s"],"block":["kids"],"block_advertisers":[4],"block_categories":["casino"],"block_domains":["c.example"],` +
			`"block_uncategorised":true,"device":"mobile","interest_locations":[3],"languages":["cs"],"locations":[1,2],"min_clock":"1-0000000000000002",` +
			`"per_advertiser":2,"placements":[{"block":["kids"],"id":"top","reserve_micros":50000,"slots":3},{"id":"side"}],` +
			`"point":{"lat":50.087,"lon":14.421},"q":"a b","site":"d.example/x","slots":3,"strict":true,"time":"2026-03-31T08:00:00Z",` +
			`"timeout_ms":9,"variants":"folded","why_empty":true}ilowt`,
	}
	if err := errors.Join(err1, err2, err3, err4, err5); err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%v\n%q", err, got)
	}
	if from[0] != from[1] || from[1] != from[2] {
		t.Errorf("connections of %v", from)
	}
}

// balancer serves the data of a new database. It performs the first lost requests, but their answers are lost.
func balancer(t testing.TB, lost int32) (url string) {
	t.Helper()
	db := nodetest.NewDatabase(t)
	log := slog.New(slog.DiscardHandler)
	h := admin.New(admin.Config{Registry: metrics.NewRegistry(), Ready: func() []string { return nil }, Log: log,
		Data: data.New(db.DB, func(context.Context, uint64) error { return nil }, log)})
	left := new(atomic.Int32)
	left.Store(lost)
	url, _ = serve(t, func(w http.ResponseWriter, r *http.Request) {
		if left.Add(-1) >= 0 {
			h.ServeHTTP(httptest.NewRecorder(), r)
			panic(http.ErrAbortHandler)
		}
		h.ServeHTTP(w, r)
	})
	return url
}

// TestData makes all kinds of calls. The first change is sent again, but performed only once.
func TestData(t *testing.T) {
	cl := newClient(t, client.Config{Balancers: []string{balancer(t, 2)}})
	ctx := t.Context()
	made, err := cl.Change(ctx, client.Change{Operations: []client.Operation{{Op: "create", Type: "advertiser", Fields: map[string]any{"name": "Acme"}}}})
	if err != nil || !made.Replayed || len(made.Changes) != 1 || made.Changes[0].ID != 1 {
		t.Fatalf("%+v, %v", made, err)
	}
	var list []client.Operation
	for i := range 150 {
		list = append(list, client.Operation{Op: "create", Type: "campaign", Owner: client.Owner{Advertiser: 1}, Fields: map[string]any{"name": fmt.Sprint(i)}})
	}
	made, err = cl.Change(ctx, client.Change{Operations: list, WaitServed: time.Second})
	if err != nil || made.Served == nil || !*made.Served || len(made.Changes) != 150 {
		t.Fatalf("%+v, %v", made, err)
	}
	n := 0
	for it, err := range cl.List(ctx, "campaigns", client.Owner{Advertiser: 1}) {
		if n++; err != nil || it.ID != uint64(n) {
			t.Fatalf("%+v, %v", it, err)
		}
	}
	got, err := cl.Get(ctx, "campaigns", 7, client.Owner{})
	if err != nil || got.Item.Name != "6" || n != 150 {
		t.Fatalf("%d campaigns, %+v, %v", n, got, err)
	}
	pause := client.Operation{Op: "update", Type: "campaign", ID: 7, IfMatch: got.Item.Etag, Fields: map[string]any{"status": "paused"}}
	if _, err := cl.Change(ctx, client.Change{Operations: []client.Operation{pause}}); err != nil {
		t.Error(err)
	}
	var e *client.Error
	if _, err := cl.Change(ctx, client.Change{Operations: []client.Operation{pause}}); !errors.As(err, &e) || e.Status != http.StatusPreconditionFailed {
		t.Errorf("%v", err)
	}
	n = 0
	for line, err := range cl.Follow(ctx, "") {
		if n++; err != nil || n == 152 && (line.ID != 7 || line.Type != "campaign") {
			t.Fatalf("line %d: %+v, %v", n, line, err)
		}
		if n == 152 {
			break
		}
	}
	for _, err := range cl.Follow(ctx, "1-0123456789abcdef") {
		if !errors.As(err, &e) || e.Code != "conflict" {
			t.Errorf("%v", err)
		}
	}
	lines, err := cl.Export(ctx, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer lines.Close()
	if text, err := io.ReadAll(lines); err != nil || strings.Count(string(text), "\n") != 151 {
		t.Errorf("%v %s", err, text)
	}
}

// stream sends JSON lines as the answer.
func stream(w http.ResponseWriter, text string) {
	w.Header().Set("Content-Type", "application/x-ndjson")
	_, _ = io.WriteString(w, text)
}

const change = `{"position":"1-000000000000000%d","type":"campaign","id":1,"removed":false}` + "\n"

// TestNoStream: if the answer is not a stream of changes, the request is not repeated. If it is a stream without a
// line, the request is repeated as often as configured, after pauses. Both end with an error.
func TestNoStream(t *testing.T) {
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		asked  int32
		says   string
	}{
		"a proxy's page": {func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>welcome</html>\n") }, 1, "text/html"},
		"no type":        {func(http.ResponseWriter, *http.Request) {}, 1, "the type"},
		"no JSON":        {func(w http.ResponseWriter, _ *http.Request) { stream(w, "x\n") }, 1, `the line "x"`},
		"no position":    {func(w http.ResponseWriter, _ *http.Request) { stream(w, "{}\n") }, 1, `the line "{}"`},
		"a long line":    {func(w http.ResponseWriter, _ *http.Request) { stream(w, strings.Repeat("x", 1<<20)) }, 1, "too long"},
		"nothing":        {func(w http.ResponseWriter, _ *http.Request) { stream(w, "") }, 3, "3 streams"},
		"half a line":    {func(w http.ResponseWriter, _ *http.Request) { stream(w, `{"position":`) }, 3, "3 streams"},
		"cut off": {func(w http.ResponseWriter, _ *http.Request) {
			stream(w, `{"pos`)
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}, 3, "EOF"},
	} {
		t.Run(name, func(t *testing.T) {
			url, asked := serve(t, c.answer)
			for line, err := range newClient(t, client.Config{Balancers: []string{url}, Tries: 3}).Follow(t.Context(), "") {
				var e *client.Error
				if line != nil || err == nil || !strings.Contains(err.Error(), c.says) || c.asked == 1 && (!errors.As(err, &e) || e.Code != "corrupt" || e.Temporary()) {
					t.Errorf("%+v, %v", line, err)
				}
			}
			if asked.Load() != c.asked {
				t.Errorf("asked %d times, want %d", asked.Load(), c.asked)
			}
		})
	}
}

// TestStreamsGoOn: streams that are cut off are opened again after the last whole line, as often as needed.
func TestStreamsGoOn(t *testing.T) {
	n := 0
	var after []string
	url, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		after = append(after, r.URL.Query().Get("after"))
		if n++; n%2 == 0 {
			stream(w, fmt.Sprintf(change, n)+`{"posi`)
		} else {
			stream(w, "")
		}
	})
	var got []string
	for line, err := range newClient(t, client.Config{Balancers: []string{url}, Tries: 2}).Follow(t.Context(), "") {
		if err != nil {
			t.Fatal(err)
		}
		if got = append(got, line.Position); len(got) == 4 {
			break
		}
	}
	if want := "[1-0000000000000002 1-0000000000000004 1-0000000000000006 1-0000000000000008]"; fmt.Sprint(got) != want {
		t.Errorf("%v", got)
	}
	if want := []string{"", "", "1-0000000000000002", "1-0000000000000002", "1-0000000000000004", "1-0000000000000004", "1-0000000000000006", "1-0000000000000006"}; !slices.Equal(after, want) {
		t.Errorf("asked after %q", after)
	}
}
