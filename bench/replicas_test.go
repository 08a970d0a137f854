package bench

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"adshard/bench/measure"
	"adshard/bench/page/pagetest"
)

// TestReplicas: topics do not increase reading, and hedges are only few calls. How much
// both save can be tested only on a machine that does nothing else.
func TestReplicas(t *testing.T) {
	dir := t.TempDir()
	store, queries, file := filepath.Join(dir, "store"), filepath.Join(dir, "queries.txt"), filepath.Join(dir, "report.json")
	page := filepath.Join(dir, "page.html")
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
	c.SetArgs([]string{"--barrels", store, "--queries", queries, "--json", file, "--html", page, "--parts", "0.25", "--rounds", "2",
		"--duration", "250ms", "--rate", "200", "--longer", "5ms"})
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
	const quarter = "cache of 0.25, "
	if without, with := value(quarter+"two at random: lists read"), value(quarter+"by topic: lists read"); with > 1.1*without || without == 0 {
		t.Errorf("%g lists read a query by topic, %g with two at random", with, without)
	}
	for _, trouble := range []string{"no replica is slow", "one is slow at times", "one is always slow"} {
		if calls := value(trouble + ", as a master, with hedges: calls"); calls < 1 || calls > 1.3 {
			t.Errorf("%s: %g calls a query with hedges", trouble, calls)
		}
		if calls := value(trouble + ", in turn: calls"); calls != 1 {
			t.Errorf("%s: %g calls a query in turn", trouble, calls)
		}
	}
	if share := value("one is always slow, in turn: calls at the first replica"); share < 0.2 || share > 0.3 {
		t.Errorf("in turn: a share of %g of the calls at the slow one of four replicas", share)
	}
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	pagetest.Check(t, string(text))
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
