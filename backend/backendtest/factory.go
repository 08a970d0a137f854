package backendtest

import (
	"slices"
	"testing"
	"time"

	"adshard/backend"
)

// Place is where one database lives. It can be opened several times at once,
// as several processes would.
type Place interface {
	// Open opens the database, created if it is missing; busy is how long a
	// writer waits for another. The suite closes it.
	Open(t testing.TB, busy time.Duration) backend.Store
	// Copy makes a copy of the database as it is now, as a backup is, at a
	// place of its own; it is removed with the test.
	Copy(t testing.TB) Place
}

// Factory makes a Place with an empty database, removed with the test.
type Factory func(t testing.TB) Place

// Patience is the busy limit where a test expects to wait, also on a busy machine.
const Patience = time.Minute

// clause is one behaviour that the contracts promise.
type clause struct {
	name string
	run  func(t *testing.T, f Factory)
}

// Run runs every clause and the random histories; in short mode, which is that of the race
// detector, only clauses of parts in which several goroutines meet.
func Run(t *testing.T, f Factory) {
	parts := [][]clause{feedClauses(), snapshotClauses(), storeClauses(), lockClauses(), documentClauses()}
	if !testing.Short() {
		parts = append(parts, upsertClauses(), removeClauses(), positionClauses(), effectClauses(),
			[]clause{{"each kind of change is logged as documented", testLog}, {"random histories", Histories}})
	}
	for _, c := range slices.Concat(parts...) {
		t.Run(c.name, func(t *testing.T) { c.run(t, f) })
	}
}

// open opens a new place and closes it with the test.
func open(t testing.TB, f Factory) backend.Store {
	t.Helper()
	return openAt(t, f(t))
}

func openAt(t testing.TB, p Place) backend.Store {
	t.Helper()
	s := p.Open(t, Patience)
	t.Cleanup(func() { closing(t, s) })
	return s
}

func closing(t testing.TB, s backend.Store) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Errorf("closing: %v", err)
	}
}
