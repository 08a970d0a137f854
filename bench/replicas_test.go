package bench

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"adshard/bench/measure"
)

// TestReplicas: topics cost no reading, and hedges are few calls; how much both save is for
// a machine that does nothing else.
func TestReplicas(t *testing.T) {
	dir := t.TempDir()
	store, queries, file := filepath.Join(dir, "store"), filepath.Join(dir, "queries.txt"), filepath.Join(dir, "report.json")
	build := BuildCommand()
	build.SetArgs([]string{"--keywords", "20000", "--out", store, "--data", "extract"})
	build.SetOut(io.Discard)
	build.SetErr(io.Discard)
	if err := build.Execute(); err != nil {
		t.Fatal(err)
	}
	corpus := CorpusCommand()
	corpus.SetArgs([]string{"--keywords", "20000", "--data", "extract", "--out", filepath.Join(dir, "ads.csv"), "--queries", queries, "--query-count", "3000"})
	corpus.SetOut(io.Discard)
	corpus.SetErr(io.Discard)
	if err := corpus.Execute(); err != nil {
		t.Fatal(err)
	}
	c := ReplicasCommand()
	c.SetArgs([]string{"--barrels", store, "--queries", queries, "--json", file})
	c.SetOut(io.Discard)
	c.SetErr(io.Discard)
	if err := c.Execute(); err != nil {
		t.Fatal(err)
	}
	report, err := measure.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	value := func(name string) float64 {
		v, ok := report.Find(name)
		if !ok {
			t.Fatalf("no %s", name)
		}
		return v.Value
	}
	if without, with := value("without topics: lists read"), value("with topics: lists read"); with > 1.1*without || without == 0 {
		t.Errorf("%g lists read a query with topics, %g without", with, without)
	}
	if calls := value("with hedges: calls"); calls < 1 || calls > 1.1 {
		t.Errorf("%g calls a query with hedges", calls)
	}
	if bad := ReplicasCommand(); true {
		bad.SetArgs([]string{"--barrels", filepath.Join(dir, "none"), "--queries", queries})
		bad.SetOut(io.Discard)
		bad.SetErr(io.Discard)
		if err := bad.Execute(); err == nil || !strings.Contains(err.Error(), "not a store") {
			t.Errorf("no store: %v", err)
		}
		if _, err := os.Stat(filepath.Join(dir, "none")); err == nil {
			t.Error("a store was made")
		}
	}
}
