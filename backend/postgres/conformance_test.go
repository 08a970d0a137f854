package postgres_test

import (
	"testing"

	"adshard/backend/backendtest"
)

func TestConformance(t *testing.T) { backendtest.Run(t, newPlace) }

// TestForgetting runs the random histories with transactions that write and forget all the time, as very large ones
// do now and then. It also does so without statements prepared in a session, for poolers that run each transaction in
// another session.
func TestForgetting(t *testing.T) {
	if testing.Short() {
		t.Skip("short: one goroutine at a time, which no race detector need watch")
	}
	backendtest.Histories(t, func(t testing.TB) backendtest.Place {
		p := newPlace(t).(place)
		p.tight, p.mode = true, "cache_describe"
		return p
	})
}
