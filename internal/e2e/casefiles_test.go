package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"adshard/backend/sqlite"
	"adshard/ingest"
	"adshard/ingest/geotargets"
	"adshard/places"
	"adshard/targeting"
)

// caseFile is a file that a golden case imports.
type caseFile struct{ Name, Text string }

// importFiles imports the files of a case into a new database, and returns everything that the database then holds.
func importFiles(t *testing.T, files []caseFile) (everything, map[string]*targeting.Blocks, *places.Table) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "ads.db")
	db := importInto(t, path, files)
	_, table, err := geotargets.Load(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	lists := storedLists(t, db)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	return readAll(t, path), lists, table
}

// importInto imports the files of a case into a new database.
func importInto(t *testing.T, path string, files []caseFile) *sqlite.Store {
	t.Helper()
	db, err := sqlite.Open(t.Context(), path, sqlite.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	var names []string
	for _, f := range files {
		name := filepath.Join(dir, f.Name)
		if err := os.WriteFile(name, []byte(f.Text), 0o644); err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(f.Text, "Criteria ID") {
			names = append(names, name)
			continue
		}
		if _, err := geotargets.Import(t.Context(), db, name, geotargets.Options{}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := ingest.Run(t.Context(), db, names, ingest.Options{}); err != nil {
		t.Fatal(err)
	}
	return db
}
