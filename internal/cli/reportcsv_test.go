package cli

import (
	"encoding/csv"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"adshard/events/store"
	"adshard/events/token"
	"adshard/internal/node/database"
)

// TestNoFormulasInAReport: no cell of `report --csv` begins like a formula, whatever names advertisers give; the names
// themselves are in the report.
func TestNoFormulasInAReport(t *testing.T) {
	names := []string{"=1+1", "+1", "-1+2", "@SUM(A1)", "\t=1", "＝1+1", "'quoted", "＠x"}
	var data strings.Builder
	w := csv.NewWriter(&data)
	_ = w.Write([]string{"Account", "Campaign", "Ad Group", "Keyword", "Criterion Type", "Max CPC"})
	for _, name := range names {
		_ = w.Write([]string{name, name, name, "lamp", "Broad", "1"})
	}
	w.Flush()
	db := "sqlite:" + filepath.Join(t.TempDir(), "ads.db")
	if status, _, errOut := run(t, "adshard", "import", "--db", db, file(t, "data.csv", data.String())); status != exitDone {
		t.Fatal(errOut)
	}
	s, err := database.OpenEvents(t.Context(), db+"-events")
	if err != nil {
		t.Fatal(err)
	}
	for n := range uint64(len(names)) {
		e := store.Event{ID: token.From(reportStart.Add(time.Duration(n) * time.Second)), Kind: store.Click, Day: firstDay,
			Token: token.Token{Advertiser: n + 1, Campaign: n + 1, Keyword: n + 1, Ad: 1, Price: 1_000_000, Query: queryOf(t, "lamp")}}
		if _, err := s.Add(t.Context(), []store.Event{e}); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for _, by := range []string{"campaign", "keyword", "query"} {
		status, out, errOut := run(t, "adshard", "report", "--db", db, "--by", by, "--since", "2023-11-14", "--csv")
		rows, err := csv.NewReader(strings.NewReader(out)).ReadAll()
		if status != exitDone || err != nil || len(rows) < 2 {
			t.Fatalf("--by %s: %d %s %v %q", by, status, errOut, err, out)
		}
		for _, row := range rows {
			for _, cell := range row {
				if trimmed := strings.TrimSpace(cell); trimmed != "" && strings.ContainsAny(trimmed[:1], "=+-@") || strings.HasPrefix(cell, "＝") || strings.HasPrefix(cell, "＠") {
					t.Errorf("--by %s: a cell %q", by, cell)
				}
			}
		}
		if by != "query" && !strings.Contains(out, "@SUM(A1)") {
			t.Errorf("--by %s lacks a name: %s", by, out)
		}
	}
}
