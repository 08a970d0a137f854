package bench

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"adshard/bench/paired"
)

// adbenchSearch runs adbench search with the built-in extract.
func adbenchSearch(t *testing.T, args ...string) (out string, err error) {
	t.Helper()
	var text bytes.Buffer
	c := SearchCommand()
	c.SetArgs(append([]string{"--data", "extract", "--work", t.TempDir()}, args...))
	c.SetOut(&text)
	c.SetErr(&text)
	c.SilenceUsage = true
	err = c.ExecuteContext(t.Context())
	return text.String(), err
}

// TestSearch runs adbench search on a small scale: all layouts, and the peers that
// need nothing except perhaps a package.
func TestSearch(t *testing.T) {
	dir := t.TempDir()
	file, page := filepath.Join(dir, "r.json"), filepath.Join(dir, "r.html")
	out, err := adbenchSearch(t, "--keywords", "3000", "--peers", smallPeers(), "--setups", "log,stop,matches 0,matches 10,SQ2", "--query-count", "100",
		"--seconds", "0.02", "--rounds", "1", "--json", file, "--html", page)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	r, err := paired.Join(file)
	if err != nil {
		t.Fatal(err)
	}
	matches := map[string]uint64{}
	for _, row := range r.Rows {
		if n, ok := matches[row.Setup]; ok && n != row.Matches {
			t.Errorf("%s has %d matches with %s, %d with others", row.Setup, row.Matches, row.Name, n)
		}
		matches[row.Setup] = row.Matches
		if row.QueriesPerSecond <= 0 || row.P50 <= 0 || row.P99 < row.P50 || row.Keywords != 3000 {
			t.Errorf("row %+v", row)
		}
	}
	for _, l := range allLayouts() {
		if !slices.ContainsFunc(r.Rows, func(row paired.Row) bool { return row.Name == l.Name() }) {
			t.Errorf("%s was not measured: %+v", l.Name(), r.Absent)
		}
	}
	for _, a := range r.Absent {
		t.Logf("left out: %s: %s", a.Name, a.Why)
	}
	if html, err := os.ReadFile(page); err != nil || !bytes.Contains(html, []byte("RDB-Pr-Fl-Opt")) || bytes.Contains(html, []byte(dir)) {
		t.Errorf("the page is not right: %v", err)
	}
}

// smallPeers returns the peers that do not need a separate download or build.
func smallPeers() string {
	var out []string
	for _, l := range allPeers() {
		if !strings.HasPrefix(l.Name(), "lucene") {
			out = append(out, l.Name())
		}
	}
	return strings.Join(out, ",")
}

func TestSearchWhileKeywordsChange(t *testing.T) {
	file := filepath.Join(t.TempDir(), "r.json")
	out, err := adbenchSearch(t, "--keywords", "3000", "--layouts", "served,structs", "--query-count", "50", "--seconds", "0.2", "--rounds", "2",
		"--changes", "10", "--set", "shared-word", "--json", file)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	r, err := paired.Join(file)
	if err != nil {
		t.Fatal(err)
	}
	if last := r.Rows[len(r.Rows)-1]; len(r.Rows) < 2 || last.Changes == nil || last.Setup != "log, shared-word, 10 % changes" {
		t.Errorf("%+v", r)
	}
}

func TestSearchWrongUse(t *testing.T) {
	for want, args := range map[string][]string{
		`there is no layout "x"`: {"--layouts", "x"}, `there is no peer "x"`: {"--peers", "x"}, `there is no setup "x"`: {"--setups", "x", "--keywords", "100"},
		"--keywords 0": {"--keywords", "0"}, "--seconds 0": {"--seconds", "0"}, "--rounds 0": {"--rounds", "0"}, "--threads many": {"--threads", "many"},
		"choose one": {"--changes", "10", "--change-rate", "5"}, "--changes 91": {"--changes", "91"}, "--cache-share 1": {"--cache-share", "1"},
		"name at least one": {"--layouts", "none"}, "is not there": {"--join", "no.json"}, "--query-count 0": {"--query-count", "0"},
		"--set x": {"--set", "x"}, "--change-rate -1": {"--change-rate", "-1"}, "unknown command": {"surplus"},
	} {
		if out, err := adbenchSearch(t, args...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %s\n%s", args, err, want, out)
		}
	}
}

// TestPromises checks that a setup whose name promises a number of matches that no
// query has is refused if it is named, and reported as missing if its group is
// named.
func TestPromises(t *testing.T) {
	_, err := adbenchSearch(t, "--keywords", "1000", "--layouts", "floor", "--setups", "log,matches 100000", "--seconds", "0.02", "--rounds", "1")
	if err == nil || !strings.Contains(err.Error(), "--setups matches 100000: its name promises about 100,000 matches, but with these 1,000 keywords") {
		t.Errorf("matches that nobody has: %v", err)
	}
	out, err := adbenchSearch(t, "--keywords", "1000", "--layouts", "floor", "--setups", "matches", "--query-count", "20", "--seconds", "0.02", "--rounds", "1")
	if err != nil || !strings.Contains(out, "left out: setup matches 100000: its name promises") || !strings.Contains(out, "matches 0") {
		t.Errorf("a group with such a setup: %v\n%s", err, out)
	}
}

// TestOnceAndExpanded checks that the figures of a single pass, and those with
// expansion in the measured time, are shown without being asked for.
func TestOnceAndExpanded(t *testing.T) {
	file := filepath.Join(t.TempDir(), "r.json")
	out, err := adbenchSearch(t, "--keywords", "2000", "--layouts", "served,served-expanded", "--query-count", "100", "--seconds", "0.02", "--rounds", "1", "--json", file)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	r, err := paired.Join(file)
	if err != nil {
		t.Fatal(err)
	}
	var rows []string
	for _, row := range r.Rows {
		rows = append(rows, row.Name+": "+row.Setup)
	}
	if want := []string{"served: log, once", "served-expanded: log, once", "served: log", "served-expanded: log"}; !slices.Equal(rows, want) {
		t.Errorf("rows %q, want %q", rows, want)
	}
	if made := r.Runs[0]; made.Commit == "" || made.Load == "" {
		t.Errorf("neither commit nor load: %+v", made)
	}
}
