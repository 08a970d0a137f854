package paired

import (
	"bytes"
	"strings"
	"testing"
)

func TestPoints(t *testing.T) {
	at := func(v float64) Spread { return Spread{v, v, v} }
	r := &Result{Rows: []Row{
		{Name: "served", Setup: "log", Keywords: 100_000, P50: 10},
		{Name: "served", Setup: "log", Keywords: 1_000_000, P50: 12, P99: 2000, BytesPerKeyword: Bytes{Disk: 100, Matching: 70},
			Ratios: map[string]Spread{Baseline: at(120), Floor: at(0.2), "lucene": at(11), "postgres": at(952), "postgres-anchor": at(55)}, QueriesPerSecond: 1200},
		{Name: "served", Setup: "log, cache 10 %", Keywords: 1_000_000, P99: 15_000},
		{Name: "served", Setup: "log, 50,000 changes/s", Keywords: 1_000_000, Changes: &Changed{PerSecond: at(50_000), P99ToRest: at(2.5)}},
		{Name: "served-top", Setup: "matches 10", Keywords: 1_000_000, P50: 5, Queries: 1, Matches: 10},
		{Name: "served-top", Setup: "matches 10000", Keywords: 1_000_000, P50: 10, Queries: 1, Matches: 10_000},
		{Name: "floor", Setup: "log", Keywords: 1_000_000, Ratios: map[string]Spread{Baseline: at(1)}},
		{Name: Baseline, Setup: "log", Keywords: 1_000_000, QueriesPerSecond: 10},
		{Name: Mapped, Setup: "log", Keywords: 1_000_000, QueriesPerSecond: 40},
	}}
	var out bytes.Buffer
	if err := r.Points().WriteMarkdown(&out); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"| what | keywords, setup | median |", "| --- |",
		"throughput of RDB-Pr-Fl-Opt | 1,000,000, log | 120 | 120 to 120 | ≥ 100 | met |",
		"throughput of B, which is faster here than RDB-Pr-Fl-Opt | 1,000,000, log | 30 |",
		"throughput of floor | 1,000,000, log | 0.2 | 0.2 to 0.2 | ≥ 0.333 | **missed** |",
		"throughput of lucene | 1,000,000, log | 11 | 11 to 11 | ≥ 10 | met |",
		"throughput of postgres-anchor | 1,000,000, log | 55 | 55 to 55 | ≥ 100 | **missed** |",
		"throughput of postgres, a weaker form | 1,000,000, log | 952 | 952 to 952 | – |  |",
		"p99, ms | 1,000,000, log | 2 |", "matching data | 1,000,000, log | 70 |", "in all | 1,000,000, log | 100 |",
		"p99, ms | 1,000,000, log, cache 10 % | 15 | 0 to 0 | ≤ 20 | met |",
		"keywords changed a second | 1,000,000, log, 50,000 changes/s | 50,000 |", "at rest | 1,000,000, log, 50,000 changes/s | 2.5 |",
		"10 × the keywords, times | 1,000,000, log | 1.2 |", "1,000 × the matches, times | 1,000,000, matches 10 (10) and matches 10000 (10,000) | 2 |",
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != len(want) {
		t.Fatalf("%d lines, want %d:\n%s", len(lines), len(want), out.String())
	}
	for i, line := range lines {
		if !strings.Contains(line, want[i]) {
			t.Errorf("line %d is %q, want %q", i, line, want[i])
		}
	}
	verdict := r.Points().verdict()
	if !strings.HasPrefix(verdict, "7 of 12 targets are met. Missed: ") || !strings.Contains(verdict, "postgres-anchor, 1,000,000, log: 55 (target ≥ 100)") {
		t.Errorf("verdict %q", verdict)
	}
	if t2 := (&Result{}).Points(); len(t2.Rows) != 0 {
		t.Errorf("a result without such rows has points: %v", t2.Rows)
	}
}
