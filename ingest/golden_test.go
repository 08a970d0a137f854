package ingest_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"adshard/ingest"
)

// golden returns the path of a golden file beside the repository, or skips.
func golden(t testing.TB, name string) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
		if filepath.Dir(dir) == dir {
			t.Fatal("no go.mod above")
		}
		dir = filepath.Dir(dir)
	}
	path := filepath.Join(dir, "..", "shared", "spec", "golden", name)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("golden file %s is not beside the repository", name)
	}
	return path
}

func TestGoldenEdges(t *testing.T) {
	want, err := os.ReadFile(golden(t, "edges/rejects.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	var rejects bytes.Buffer
	store := newFakeStore()
	sum, err := ingest.Run(context.Background(), store, []string{golden(t, "edges/editor.csv")}, ingest.Options{Rejects: &rejects})
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

// places keeps row and column of tab-separated lines.
func places(tsv string, row int) string {
	var b strings.Builder
	for line := range strings.Lines(tsv) {
		cells := strings.Split(line, "\t")
		b.WriteString(cells[row] + " " + cells[row+1] + "\n")
	}
	return b.String()
}

// goldenEditor returns the golden Editor file, unpacked, or skips.
func goldenEditor(t testing.TB) []byte {
	t.Helper()
	f, err := os.Open(golden(t, "editor.csv.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	plain, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(plain)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
