package e2e

import (
	"io"
	"net/http"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"adshard/internal/site/metrics"
)

// TestMetrics: names follow Prometheus's recommendations, the reference lists exactly the metrics that there are, and
// profiles are only on the admin port.
func TestMetrics(t *testing.T) {
	c := startCluster(t, importEditor(t, []byte(fates), 0), 3, false, "default")
	c.search(t, url.Values{"q": {"red lamp"}})
	text := c.page(t, c.admin+"/metrics", http.StatusOK)
	problems, err := promlint.New(strings.NewReader(text)).Lint()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
	list, err := metrics.Declared(filepath.Join("..", "node"))
	if err != nil {
		t.Fatal(err)
	}
	declared := make(map[string]bool)
	for _, m := range list {
		declared[m.Name] = true
	}
	found := regexp.MustCompile(`(?m)^# TYPE (adshard_\w+)`).FindAllStringSubmatch(text, -1)
	for _, name := range found {
		if !declared[name[1]] {
			t.Errorf("the reference lacks %s", name[1])
		}
	}
	later := []string{"adshard_shard_failures_total", "adshard_missing_total", "adshard_replica_left_out", "adshard_hedges_total",
		"adshard_hedges_won_total", "adshard_asked_elsewhere_total", "adshard_budget_used_up_total", // by shard, after the first event
		"adshard_connections_opened_total", "adshard_calls_refused_total", "adshard_certificate_left_seconds", // with TLS
		"adshard_events_total", "adshard_event_key", "adshard_event_batches_refused_total", "adshard_event_batch_seconds", "adshard_budget_checks_failed_total", // with a collector
		"adshard_learning_rounds_total", "adshard_learning_keywords_changed_total", "adshard_learning_last_round_timestamp_seconds", // with a collector that learns
		"adshard_exposed_files", "adshard_balancer_setting_differs", // with files that others may read, on a standby with other settings
		"adshard_query_log_lost_total", "adshard_spans_lost_total", // with a query log, with traces
		"adshard_rocksdb_block_cache_hits_total", "adshard_rocksdb_block_cache_misses_total", "adshard_rocksdb_flushed_bytes_total",
		"adshard_rocksdb_compaction_read_bytes_total", "adshard_rocksdb_compaction_written_bytes_total", "adshard_rocksdb_stalled_seconds_total"} // with rocksdb_statistics
	for name := range declared {
		if !strings.Contains(text, "# TYPE "+name+" ") && !slices.Contains(later, name) {
			t.Errorf("the reference has %s, which is not there", name)
		}
	}
	for _, stage := range []string{"expand", "fan-out", "slave search", "merge", "finish", "request"} {
		if !strings.Contains(text, `stage="`+stage+`"`) {
			t.Errorf("no stage %q", stage)
		}
	}
	c.page(t, c.admin+"/debug/pprof/", http.StatusOK)
	c.page(t, c.http+"/debug/pprof/", http.StatusNotFound)
	c.page(t, c.http+"/metrics", http.StatusNotFound)
}

// pageWith returns a page that must exist, requested with headers.
func (c *cluster) pageWith(t *testing.T, address string, headers http.Header) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header = headers
	resp, err := c.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s, %v", address, resp.Status, err)
	}
	return string(body)
}

// page returns a page, which must have the given status.
func (c *cluster) page(t *testing.T, address string, status int) string {
	t.Helper()
	resp, err := c.client.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != status {
		t.Fatalf("%s: %s, %v", address, resp.Status, err)
	}
	return string(body)
}
