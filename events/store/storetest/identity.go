package storetest

import (
	"sync"
	"testing"

	"adshard/events/store"
)

// Identity checks that each database has an id of its own, which stays the same, whichever of several programs
// creates it. `open` opens a new database at its first call and the same one at each later call; other is another
// database.
func Identity(t *testing.T, open func() store.Store, other store.Store) {
	id := func(s store.Store) string {
		id, err := s.ID(t.Context())
		if err != nil || id == "" {
			t.Errorf("%q, %v", id, err)
		}
		return id
	}
	ids := make([]string, 4)
	var programs sync.WaitGroup
	for i := range ids[1:] {
		programs.Go(func() { ids[i] = id(open()) })
	}
	programs.Wait()
	ids[3] = id(open())
	if ids[0] != ids[1] || ids[1] != ids[2] || ids[2] != ids[3] || ids[0] == id(other) {
		t.Errorf("%q, another one %s", ids, id(other))
	}
}
