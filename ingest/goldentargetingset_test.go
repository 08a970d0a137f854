package ingest_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"adshard/backend/backendtest"
	"adshard/ingest"
	"adshard/ingest/geotargets"
)

// goldenSet is what the golden set of targeting expects of its import.
type goldenSet struct {
	Rejects []struct {
		File, Column string
		Row          int
	}
	Paused []struct{ Advertiser, Campaign string }
	Wider  []struct {
		Advertiser, Campaign string
		Not                  map[string]int64 `json:"not_applied"`
	}
	Skipped map[string]int64
}

const goldenDir = "../internal/goldentest/testdata/targeting/golden/"

// TestGoldenTargetingSet imports the golden set and compares what is rejected, paused, skipped and served more
// widely.
func TestGoldenTargetingSet(t *testing.T) {
	raw, err := os.ReadFile(goldenDir + "imports.json")
	var want goldenSet
	if err != nil || json.Unmarshal(raw, &want) != nil {
		t.Fatal(err)
	}
	store := openDatabase(t, filepath.Join(t.TempDir(), "ads.db"))
	defer store.Close()
	var rejects bytes.Buffer
	o := ingest.Options{Rejects: &rejects}
	if _, err := geotargets.Import(t.Context(), store, goldenDir+"places.csv", geotargets.Options{Rejects: &rejects}); err != nil {
		t.Fatal(err)
	}
	sum, err := ingest.Run(t.Context(), store, []string{unpacked(t, "editor.csv"), unpacked(t, "entities.jsonl")}, o)
	if err != nil {
		t.Fatal(err)
	}
	var got, is, wanted []string
	for line := range strings.Lines(rejects.String()) {
		cells := strings.Split(line, "\t")
		got = append(got, fmt.Sprint(filepath.Base(cells[0]), " ", cells[1], " ", cells[2]))
	}
	for _, r := range want.Rejects {
		wanted = append(wanted, fmt.Sprint(r.File, " ", r.Row, " ", r.Column))
	}
	same(t, "rejects", got, wanted)
	now := backendtest.ReadNow(t, store)
	wanted = nil
	for _, c := range now.Campaigns {
		if !c.Enabled {
			is = append(is, now.Advertisers[c.AdvertiserID].Name+"/"+c.Name)
		}
	}
	for _, p := range want.Paused {
		wanted = append(wanted, p.Advertiser+"/"+p.Campaign)
	}
	same(t, "paused", is, wanted)
	got, wanted = nil, nil
	for _, w := range sum.Wider {
		counts := make(map[string]int64)
		for _, r := range w.Restrictions {
			counts[strings.Replace(r.Kind, "other exclusion", "other", 1)] = r.Rows
		}
		got = append(got, fmt.Sprint(w.Advertiser, "/", w.Campaign, counts))
	}
	for _, w := range want.Wider {
		wanted = append(wanted, fmt.Sprint(w.Advertiser, "/", w.Campaign, w.Not))
	}
	same(t, "wider", got, wanted)
	skipped := make(map[string]int64)
	for _, s := range sum.Skipped {
		skipped[s.Kind] = s.Rows
	}
	if fmt.Sprint(skipped) != fmt.Sprint(want.Skipped) {
		t.Errorf("skipped are %v, want %v", skipped, want.Skipped)
	}
}

// unpacked unpacks a file of the golden set and returns its path.
func unpacked(t *testing.T, name string) string {
	f, err := os.Open(goldenDir + name + ".gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	path := filepath.Join(t.TempDir(), name)
	if err != nil || os.WriteFile(path, text, 0o600) != nil {
		t.Fatal(err)
	}
	return path
}

func same(t *testing.T, what string, got, want []string) {
	t.Helper()
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("%s are\n%s\nwant\n%s", what, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
