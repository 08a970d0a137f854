package bench

import (
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"adshard/bench/openloop"
	"adshard/bench/workload"
)

// TestRecordedContexts: a recorded query is asked with its context and with further parameters.
func TestRecordedContexts(t *testing.T) {
	name := filepath.Join(t.TempDir(), "queries.log")
	const log = "red lamp\t2026-01-31T12:00:00Z\tlocation=2203&time=2026-01-31T12%3A00%3A00Z\nred lamp\t2026-01-31T12:00:01Z\n" +
		"red lamp\t2026-01-31T12:00:02Z\tblock_category=%3C&placement=%7B%22id%22%3A%22a%22%7D&placement=%7B%7D\n"
	if err := os.WriteFile(name, []byte(log), 0o600); err != nil {
		t.Fatal(err)
	}
	w, err := workload.FromFile(name, 1)
	if err != nil {
		t.Fatal(err)
	}
	got, _, refused := scheduled(w, []url.Values{{"slots": {"8"}}}, 0, w.Recorded())
	want := []openloop.Target{
		{Path: "/v1/search?q=red+lamp&location=2203&slots=8&time=2026-01-31T12%3A00%3A00Z"}, {Path: "/v1/search?q=red+lamp&slots=8"},
		{Path: "/v1/search", Body: `{"block_categories":["\u003c"],"placements":[{"id":"a"},{}],"q":"red lamp","slots":8}`},
	}
	if !slices.Equal(got, want) || refused != 0 {
		t.Errorf("asked\n%q, want\n%q", got, want)
	}
}
