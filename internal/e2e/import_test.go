package e2e

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"adshard/backend/sqlite"
	"adshard/ingest"
)

// answer is an answer over HTTP.
type answer struct {
	Matched, Candidates uint64
	Counts              string
	Vocabulary          string `json:"vocabulary_version"`
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
	Position  int
	Headlines []string
	wantAd
}

// importEditor imports the content of an Editor file into a new database and returns the database's path. It checks
// that the database then has the given number of keywords, unless that is 0.
func importEditor(t *testing.T, file []byte, keywords uint64) string {
	t.Helper()
	db := filepath.Join(t.TempDir(), "ads.db")
	store, err := sqlite.Open(t.Context(), db, sqlite.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	var rejects bytes.Buffer
	if _, err := ingest.Run(t.Context(), store, []string{"-"}, ingest.Options{Stdin: bytes.NewReader(file), Rejects: &rejects}); err != nil {
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
