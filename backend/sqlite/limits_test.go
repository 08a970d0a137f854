package sqlite

import (
	"path/filepath"
	"testing"
	"time"

	"adshard/backend"
	"adshard/backend/backendtest"
	"adshard/backend/upsert"
)

// tight is the path of a database with limits so low that transactions keep almost nothing in memory.
type tight string

func (p tight) Open(t testing.TB, busy time.Duration) backend.Store {
	t.Helper()
	s, err := Open(t.Context(), string(p), Options{Create: true, BusyTimeout: busy})
	if err != nil {
		t.Fatal(err)
	}
	s.limits = upsert.Limits{Queued: 2, Cached: 6, Parents: 2}
	return s
}

func (p tight) Copy(t testing.TB) backendtest.Place {
	t.Helper()
	copied := filepath.Join(t.TempDir(), "copy.db")
	ByBackup(t, string(p), copied)
	return tight(copied)
}

// TestForgettingAllTheTime runs the random histories with transactions that write and
// forget all the time, as very large ones do now and then.
func TestForgettingAllTheTime(t *testing.T) {
	if testing.Short() {
		t.Skip("short: one goroutine at a time, which no race detector need watch")
	}
	backendtest.Histories(t, func(t testing.TB) backendtest.Place {
		return tight(filepath.Join(t.TempDir(), "ads.db"))
	})
}
