package e2e

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"adshard/backend/sqlite"
	"adshard/ingest"
)

// answer is what HTTP answers.
type answer struct {
	Matched, Candidates uint64
	Counts              string
	Ads                 []ad
	Coverage            struct {
		Shards, Answered int
		Complete         bool
		Missing          []string
		PricesExact      bool   `json:"prices_exact"`
		AppliedClock     uint64 `json:"applied_clock"`
	}
}

type ad struct {
	Position int
	wantAd
}

// importFile imports an Editor file into a new database and returns its path;
// keywords is how many it must hold then, 0: not checked.
func importFile(t *testing.T, path string, keywords uint64) string {
	t.Helper()
	dir := t.TempDir()
	if strings.HasSuffix(path, ".gz") {
		path = unpack(t, path, filepath.Join(dir, "editor.csv"))
	}
	db := filepath.Join(dir, "ads.db")
	store, err := sqlite.Open(t.Context(), db, sqlite.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	var rejects bytes.Buffer
	if _, err := ingest.Run(t.Context(), store, []string{path}, ingest.Options{Rejects: &rejects}); err != nil {
		t.Fatal(err)
	}
	if keywords == 0 {
		return db
	}
	counts, err := store.Counts(t.Context())
	if err != nil || counts.Keywords != keywords || rejects.Len() > 0 {
		t.Fatalf("%+v, %v, want %d keywords; rejects: %s", counts, err, keywords, rejects.String())
	}
	return db
}

func unpack(t *testing.T, from, to string) string {
	t.Helper()
	f, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	out, err := os.Create(to)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(out, z); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	return to
}

// copyFile copies a database, so that each cluster has its own control state.
func copyFile(t *testing.T, db string) string {
	t.Helper()
	b, err := os.ReadFile(db)
	if err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(t.TempDir(), "ads.db")
	if err := os.WriteFile(to, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return to
}

// writeFile writes a file to be imported.
func writeFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "editor.csv")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
