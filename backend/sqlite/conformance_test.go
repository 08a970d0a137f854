package sqlite_test

import (
	"path/filepath"
	"testing"
	"time"

	"adshard/backend"
	"adshard/backend/backendtest"
	"adshard/backend/sqlite"
)

// place is a database file.
type place string

func (p place) Open(t testing.TB, busy time.Duration) backend.Store {
	t.Helper()
	s, err := sqlite.Open(t.Context(), string(p), sqlite.Options{Create: true, BusyTimeout: busy})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func (p place) Copy(t testing.TB) backendtest.Place {
	t.Helper()
	copied := filepath.Join(t.TempDir(), "copy.db")
	sqlite.ByBackup(t, string(p), copied)
	return place(copied)
}

func newPlace(t testing.TB) backendtest.Place {
	return place(filepath.Join(t.TempDir(), "ads.db"))
}

func TestConformance(t *testing.T) { backendtest.Run(t, newPlace) }
