package backendtest

import (
	"slices"
	"testing"
	"time"

	"adshard/backend"
)

// Place is where one database is kept. It can be opened several times at once, as several processes would open it.
type Place interface {
	// Open opens the database and creates it if it is missing; busy is how long a writer waits for another one. The
	// suite closes the store.
	Open(t testing.TB, busy time.Duration) backend.Store
	// Copy makes a copy of the database in its present state, as a backup would, at another place. It is removed at
	// the end of the test.
	Copy(t testing.TB) Place
}

// Factory makes a Place with an empty database, which is removed at the end of the test.
type Factory func(t testing.TB) Place

// Patience is the busy timeout in tests that expect to wait, long enough for a busy machine.
const Patience = time.Minute

// clause is one behaviour that the contracts promise.
type clause struct {
	name string
	run  func(t *testing.T, f Factory)
}

// Run runs every clause and the random histories. In short mode, which the race detector uses, it runs only the
// clauses of parts in which several goroutines meet.
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

// open opens a new place and closes it at the end of the test.
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
