package e2e

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// want is a line of the golden answers.
type want struct {
	Query, Device, Variants, Profile string
	Slots                            int
	Matched, Candidates              uint64
	Ads                              []wantAd
}

type wantAd struct {
	Advertiser, Campaign, Group, Keyword string
	MatchType                            string `json:"match_type"`
	Variant                              string
	Price                                uint64 `json:"price_micros"`
}

func difference(w want, got answer, exact bool) string {
	if !got.Coverage.Complete || !got.Coverage.PricesExact {
		return fmt.Sprintf("incomplete: %+v", got.Coverage)
	}
	if exact && (got.Matched != w.Matched || got.Candidates != w.Candidates || got.Counts != "") {
		return fmt.Sprintf("matched %d candidates %d (%s), want %d and %d", got.Matched, got.Candidates, got.Counts, w.Matched, w.Candidates)
	}
	if !exact && (got.Matched > w.Matched || got.Candidates > w.Candidates) {
		return fmt.Sprintf("matched %d candidates %d are no lower bounds of %d and %d", got.Matched, got.Candidates, w.Matched, w.Candidates)
	}
	if len(got.Ads) != len(w.Ads) {
		return fmt.Sprintf("%d ads, want %d: %+v", len(got.Ads), len(w.Ads), got.Ads)
	}
	for i, a := range got.Ads {
		b := w.Ads[i]
		if b.Variant == "" {
			b.Variant = a.Variant
		}
		if a.wantAd != b || a.Position != i+1 {
			return fmt.Sprintf("place %d: %+v, want %+v", i+1, a, b)
		}
	}
	return ""
}

// goldenFile returns a file of the golden answers beside the repository, or
// skips the test.
func goldenFile(t *testing.T, name string) string {
	t.Helper()
	path := filepath.Join("..", "..", "..", "shared", "spec", "golden", name)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("the golden answers are not here: %v", err)
	}
	return path
}

func readWants(t *testing.T, path string) []want {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var list []want
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var w want
		if err := json.Unmarshal(lines.Bytes(), &w); err != nil {
			t.Fatal(err)
		}
		list = append(list, w)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return list
}
