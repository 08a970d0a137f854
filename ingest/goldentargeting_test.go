package ingest_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"adshard/backend/backendtest"
	"adshard/ingest"
	"adshard/ingest/geotargets"
)

// targetingCase is the part of a case of the golden edges of targeting that concerns imports.
type targetingCase struct {
	Comment string
	Files   []struct{ Name, Text string }
	Imports *targetingImports
}

type targetingImports struct {
	Rejects []struct {
		File, Column string
		Row          int64
	}
	Paused   []string
	Wider    map[string]map[string]int64
	Inactive []uint32 `json:"inactive_places"`
}

// TestGoldenTargeting: files with targeting cause the rejects, pauses and warnings that the golden edges list.
func TestGoldenTargeting(t *testing.T) {
	f, err := os.Open("../internal/goldentest/testdata/targeting/edges/cases.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines, n := bufio.NewScanner(f), 0
	lines.Buffer(nil, 1<<20)
	for ; lines.Scan(); n++ {
		var c targetingCase
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		if c.Imports == nil {
			c.Imports = new(targetingImports)
		}
		if strings.Contains(string(lines.Bytes()), `blocklist`) {
			continue
		}
		t.Run(strconv.Itoa(n)+" "+c.Comment, func(t *testing.T) { c.run(t) })
	}
	if n != 227 || lines.Err() != nil {
		t.Errorf("%d cases (%v)", n, lines.Err())
	}
}

func (c *targetingCase) run(t *testing.T) {
	store := openDatabase(t, filepath.Join(t.TempDir(), "ads.db"))
	var names []string
	dir := t.TempDir()
	var rejects bytes.Buffer
	o := ingest.Options{Rejects: &rejects}
	for _, f := range c.Files {
		path := filepath.Join(dir, f.Name)
		if err := os.WriteFile(path, []byte(f.Text), 0o600); err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(f.Text, "Criteria ID") {
			if _, err := geotargets.Import(t.Context(), store, path, geotargets.Options{Rejects: &rejects}); err != nil {
				t.Fatal(err)
			}
			continue
		}
		names = append(names, path)
	}
	if names == nil {
		return
	}
	sum, err := ingest.Run(t.Context(), store, names, o)
	if err != nil {
		t.Fatal(err)
	}
	got := ""
	for line := range strings.Lines(rejects.String()) {
		cells := strings.Split(line, "\t")
		got += filepath.Base(cells[0]) + " " + cells[1] + " " + cells[2] + "\n"
	}
	want := ""
	for _, r := range c.Imports.Rejects {
		want += r.File + " " + strconv.FormatInt(r.Row, 10) + " " + r.Column + "\n"
	}
	if got != want {
		t.Errorf("rejects are\n%swant\n%s%s", got, want, rejects.String())
	}
	c.after(t, backendtest.ReadNow(t, store), &sum)
}

// after compares the campaigns after an import, and its warnings, with the case.
func (c *targetingCase) after(t *testing.T, now backendtest.State, sum *ingest.Summary) {
	var paused, told []string
	for _, id := range slices.Sorted(maps.Keys(now.Campaigns)) {
		if k := now.Campaigns[id]; !k.Enabled {
			paused = append(paused, k.Name)
		}
	}
	for _, s := range sum.Shut {
		for _, e := range s.First {
			if s.Why == "rejected_restriction" {
				told = append(told, e.Campaign)
			}
		}
	}
	if !slices.Equal(paused, c.Imports.Paused) || !slices.Equal(told, c.Imports.Paused) {
		t.Errorf("paused are %v, told %v, want %v", paused, told, c.Imports.Paused)
	}
	wider := make(map[string]map[string]int64)
	for _, w := range sum.Wider {
		wider[w.Campaign] = make(map[string]int64)
		for _, r := range w.Restrictions {
			wider[w.Campaign][strings.Replace(r.Kind, "other exclusion", "other", 1)] = r.Rows
		}
	}
	if !maps.EqualFunc(wider, c.Imports.Wider, maps.Equal) {
		t.Errorf("wider are %v, want %v", wider, c.Imports.Wider)
	}
	var inactive []uint32
	for _, w := range sum.FirstWarnings {
		if id, ok := strings.CutPrefix(w.Text, "place "); ok {
			n, _ := strconv.ParseUint(strings.TrimSuffix(id, " is not active any more"), 10, 32)
			inactive = append(inactive, uint32(n))
		}
	}
	if !slices.Equal(inactive, c.Imports.Inactive) {
		t.Errorf("inactive places are %v, want %v", inactive, c.Imports.Inactive)
	}
}
