package ingest_test

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"adshard/ingest"
	"adshard/internal/goldentest"
)

func TestGoldenEdges(t *testing.T) {
	want := goldentest.Read(t, "edges/rejects.tsv")
	var rejects bytes.Buffer
	store := newFakeStore()
	sum, err := ingest.Run(context.Background(), store, []string{"-"},
		ingest.Options{Stdin: bytes.NewReader(goldentest.Read(t, "edges/editor.csv")), Rejects: &rejects})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := places(rejects.String(), 1), places(string(want), 0); got != want {
		t.Errorf("rejects:\n%s\nwant:\n%s\nin full:\n%s", got, want, rejects.String())
	}
	if n := int64(strings.Count(string(want), "\n")); sum.Rejected != n {
		t.Errorf("%d rejected, want %d", sum.Rejected, n)
	}
}

// places returns the row and column of tab-separated lines.
func places(tsv string, row int) string {
	var b strings.Builder
	for line := range strings.Lines(tsv) {
		cells := strings.Split(line, "\t")
		b.WriteString(cells[row] + " " + cells[row+1] + "\n")
	}
	return b.String()
}
