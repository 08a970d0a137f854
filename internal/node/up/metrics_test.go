package up_test

import (
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
	"adshard/internal/node/master"
	"adshard/internal/node/metrics"
	"adshard/internal/node/searchapi"
	"adshard/internal/node/slave"
	"adshard/loadproxy"
	"adshard/search"
)

// TestMetrics registers all nodes of a cluster in one registry.
func TestMetrics(t *testing.T) {
	r := metrics.NewRegistry()
	of := func(node string) prometheus.Registerer {
		return prometheus.WrapRegistererWith(prometheus.Labels{"node": node}, r)
	}
	masters := master.NewMetrics(of("master"))
	store := barreltest.InMemory(t, "")
	defer store.Close()
	state := func() loadproxy.State { return loadproxy.State{CaughtUp: true, Trouble: "full", Buckets: 9} }
	var slaves *slave.Metrics
	for _, name := range []string{"slave-0", "slave-1"} {
		slaves = slave.NewMetrics(of(name), store, state, slog.New(slog.DiscardHandler))
	}
	answer := &search.Answer{Width: search.WholeRing(), Work: search.Work{Examined: 5, BlocksRead: 2, BlocksSkipped: 7, BlocksBad: 3}}
	masters.Observe(&searchapi.Observation{Operation: "search", Status: 200, Took: time.Millisecond, Expand: 1, Search: 2, Finish: 3, Answer: answer})
	masters.Observe(&searchapi.Observation{Operation: "search", Status: 200, Took: 1, Answer: &search.Answer{}})
	masters.Observe(&searchapi.Observation{Operation: "search", Status: 503, Took: 1, Err: fault.Newf(fault.Overloaded, "x", "busy")})
	masters.Called("slave-0", "slave-0", time.Millisecond, fault.Newf(fault.Deadline, "x", "late"))
	masters.Merged(time.Microsecond)
	masters.Retried()
	slaves.Searched(time.Millisecond, "", answer, nil)
	slaves.Searched(time.Millisecond, "", nil, fault.Newf(fault.Overloaded, "x", "busy"))
	slaves.Searched(time.Millisecond, "", nil, fault.Newf(fault.Deadline, "x", "late"))
	slaves.Panicked("boom")
	h := admin.New(admin.Config{Registry: r, Ready: func() []string { return nil }, Log: slog.New(slog.DiscardHandler)})
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	text := w.Body.String()
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
