package admin_test

import (
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"adshard/barrels/barreltest"
	"adshard/fault"
	"adshard/internal/node/admin"
	"adshard/internal/node/admin/admintest"
	"adshard/internal/node/httpapi"
	"adshard/loadproxy"
	"adshard/search"
)

func handler(c admin.Control, why ...string) http.Handler {
	return admin.New(admin.Config{Registry: admin.NewRegistry(), Ready: func() []string { return why },
		Control: c, Hosts: []string{"example.com"}, Log: slog.New(slog.DiscardHandler)})
}

func call(h http.Handler, method, path, body string, header ...string) *httptest.ResponseRecorder {
	var content io.Reader
	if body != "" {
		content = strings.NewReader(body)
	}
	r := httptest.NewRequest(method, path, content)
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func TestCalls(t *testing.T) {
	for name, c := range map[string]struct {
		h                  http.Handler
		method, path, body string
		header             []string
		status             int
		want               string
	}{
		"live":              {handler(nil, "x"), "GET", "/livez", "", nil, 200, "ok"},
		"ready":             {handler(nil), "GET", "/readyz", "", nil, 200, "ready"},
		"not ready":         {handler(nil, "no map", "no room"), "GET", "/readyz", "", nil, 503, "no map; no room"},
		"metrics":           {handler(nil), "GET", "/metrics", "", nil, 200, "go_goroutines"},
		"profiles":          {handler(nil), "GET", "/debug/pprof/", "", nil, 200, "heap"},
		"document":          {handler(nil), "GET", "/openapi.yaml", "", nil, 200, "openapi: 3.1"},
		"budget":            {handler(admintest.NewControl()), "POST", "/v1/campaigns/7/budget", `{"exhausted":true}`, nil, 200, `{"campaign_id":7,"exhausted":true,"min_clock":"2329-0000000000000007"}`},
		"no such campaign":  {handler(&admintest.Control{Err: fault.Newf(fault.NotFound, "x", "no campaign 7")}), "POST", "/v1/campaigns/7/budget", `{"exhausted":true}`, nil, 404, "no campaign 7"},
		"campaign 0":        {handler(admintest.NewControl()), "POST", "/v1/campaigns/0/budget", `{"exhausted":true}`, nil, 400, `"field":"id"`},
		"campaign x":        {handler(admintest.NewControl()), "POST", "/v1/campaigns/x/budget", `{"exhausted":true}`, nil, 400, `"field":"id"`},
		"share":             {handler(admintest.NewControl()), "POST", "/v1/campaigns/7/budget", `{"exhausted":false,"share_ppm":250000}`, nil, 200, `{"campaign_id":7,"exhausted":false,"share_ppm":250000,"min_clock":"2329-0000000000000007"}`},
		"share alone":       {handler(admintest.NewControl()), "POST", "/v1/campaigns/7/budget", `{"share_ppm":250000}`, nil, 400, "exhausted"},
		"share too large":   {handler(admintest.NewControl()), "POST", "/v1/campaigns/7/budget", `{"exhausted":false,"share_ppm":1000001}`, nil, 400, `"field":"share_ppm"`},
		"share negative":    {handler(admintest.NewControl()), "POST", "/v1/campaigns/7/budget", `{"exhausted":false,"share_ppm":-1}`, nil, 400, `"field":"share_ppm"`},
		"nothing said":      {handler(admintest.NewControl()), "POST", "/v1/campaigns/7/budget", `{}`, nil, 400, "exhausted"},
		"unknown field":     {handler(admintest.NewControl()), "POST", "/v1/campaigns/7/budget", `{"exhausted":true,"x":1}`, nil, 400, `"field":"x"`},
		"wrong type":        {handler(admintest.NewControl()), "POST", "/v1/campaigns/7/budget", `{"exhausted":"yes"}`, nil, 400, "exhausted"},
		"large":             {handler(admintest.NewControl()), "POST", "/v1/campaigns/7/budget", `{"exhausted":true` + strings.Repeat(" ", httpapi.MaxBody) + `}`, nil, 413, "body_too_large"},
		"budget by GET":     {handler(admintest.NewControl()), "GET", "/v1/campaigns/7/budget", "", nil, 405, ""},
		"from another site": {handler(admintest.NewControl()), "POST", "/v1/campaigns/7/budget", `{"exhausted":true}`, []string{"Sec-Fetch-Site", "cross-site"}, 403, ""},
		"database locked":   {handler(&admintest.Control{Err: fault.New(fault.Locked, "x", errors.New("busy"))}), "POST", "/v1/campaigns/7/budget", `{"exhausted":true}`, nil, 503, "busy"},
		"slaves":            {handler(admintest.NewControl()), "GET", "/v1/slaves", "", nil, 200, `"slave-0"`},
		"slaves fail":       {handler(&admintest.Control{Err: errors.New("x")}), "GET", "/v1/slaves", "", nil, 500, "internal"},
		"slaves of a slave": {handler(nil), "GET", "/v1/slaves", "", nil, 404, ""},
		"no such path":      {handler(nil), "GET", "/v1/nonsense", "", nil, 404, `"code":"not_found"`},
		"nothing slow":      {handler(nil), "GET", "/debug/slow", "", nil, 404, `"code":"not_found"`},
		"budget of a slave": {handler(nil), "POST", "/v1/campaigns/7/budget", `{"exhausted":true}`, nil, 404, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := call(c.h, c.method, c.path, c.body, c.header...)
			if w.Code != c.status || !strings.Contains(w.Body.String(), c.want) {
				t.Fatalf("%d %s, want %d with %q", w.Code, w.Body, c.status, c.want)
			}
		})
	}
}

// TestMetrics registers all nodes of a cluster in one registry.
func TestMetrics(t *testing.T) {
	r := admin.NewRegistry()
	of := func(node string) prometheus.Registerer {
		return prometheus.WrapRegistererWith(prometheus.Labels{"node": node}, r)
	}
	master := admin.NewMasterMetrics(of("master"))
	store := barreltest.InMemory(t, "")
	defer store.Close()
	state := func() loadproxy.State { return loadproxy.State{CaughtUp: true, Trouble: "full", Buckets: 9} }
	var slave *admin.SlaveMetrics
	for _, name := range []string{"slave-0", "slave-1"} {
		slave = admin.NewSlaveMetrics(of(name), store, state, slog.New(slog.DiscardHandler))
	}
	answer := &search.Answer{Width: search.WholeRing(), Work: search.Work{Examined: 5, BlocksRead: 2, BlocksSkipped: 7, BlocksBad: 3}}
	master.Observe(&httpapi.Observation{Operation: "search", Status: 200, Took: time.Millisecond, Expand: 1, Search: 2, Finish: 3, Answer: answer})
	master.Observe(&httpapi.Observation{Operation: "search", Status: 200, Took: 1, Answer: &search.Answer{}})
	master.Observe(&httpapi.Observation{Operation: "search", Status: 503, Took: 1, Err: fault.Newf(fault.Overloaded, "x", "busy")})
	master.Called("slave-0", "slave-0", time.Millisecond, fault.Newf(fault.Deadline, "x", "late"))
	master.Merged(time.Microsecond)
	master.Retried()
	slave.Searched(time.Millisecond, "", answer, nil)
	slave.Searched(time.Millisecond, "", nil, fault.Newf(fault.Overloaded, "x", "busy"))
	slave.Searched(time.Millisecond, "", nil, fault.Newf(fault.Deadline, "x", "late"))
	slave.Panicked("boom")
	h := admin.New(admin.Config{Registry: r, Ready: func() []string { return nil }, Log: slog.New(slog.DiscardHandler)})
	text := call(h, "GET", "/metrics", "").Body.String()
	if strings.Contains(text, "adshard_rocksdb_flushed_bytes_total") {
		t.Error("a database that does not count has counts")
	}
	for _, want := range []string{
		`adshard_answers_total{node="master",operation="search",outcome="complete",status="200"} 1`,
		`adshard_answers_total{node="master",operation="search",outcome="incomplete",status="200"} 1`,
		`adshard_answers_total{node="master",operation="search",outcome="overloaded",status="503"} 1`,
		`adshard_stage_seconds_count{node="master",stage="request"} 3`,
		`adshard_stage_seconds_count{node="master",stage="merge"} 1`,
		`adshard_stage_seconds_count{node="slave-1",stage="slave search"} 1`,
		`adshard_shard_failures_total{kind="deadline",node="master",replica="slave-0",shard="slave-0"} 1`,
		`adshard_stale_views_total{node="master"} 1`,
		`adshard_postings_examined_total{node="slave-1"} 5`,
		`adshard_blocks_read_total{node="slave-1"} 2`,
		`adshard_blocks_skipped_total{node="slave-1"} 7`,
		`adshard_blocks_bad_total{node="slave-1"} 3`,
		`adshard_early_ends_total{node="slave-1"} 1`,
		`adshard_slave_searches_total{node="slave-1",outcome="answered"} 1`,
		`adshard_slave_searches_total{node="slave-1",outcome="deadline"} 1`,
		`adshard_overloads_total{node="slave-1"} 1`,
		`adshard_panics_total{node="slave-1"} 1`,
		`adshard_caught_up{node="slave-0"} 1`,
		`adshard_in_trouble{node="slave-0"} 1`,
		`adshard_buckets_applied_total{node="slave-0"} 9`,
		`adshard_rocksdb_writes_delayed{node="slave-0"} 0`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s", want)
		}
	}
	if t.Failed() {
		t.Log(text)
	}
}
