package storetest

import (
	"sync"
	"testing"

	"adshard/events/store"
)

// Identity checks that each database has an id of its own, which stays, and that one of format 3, which downgrade makes of it, gets one, whoever of
// several programs opens it first. reopen returns another handle of the database of a store; other is of another database.
func Identity(t *testing.T, s, other store.Store, downgrade func(), reopen func() store.Store) {
	id := func(s store.Store) string {
		t.Helper()
		id, err := s.ID(t.Context())
		must(t, err)
		if id == "" {
			t.Error("a database has no id")
		}
		return id
	}
	before := id(s)
	if again := id(reopen()); again != before || id(other) == before {
		t.Errorf("%s, then %s, another one %s", before, again, id(other))
	}
	downgrade()
	ids := make([]string, 3)
	var programs sync.WaitGroup
	for i := range ids {
		programs.Go(func() { ids[i] = id(reopen()) })
	}
	programs.Wait()
	if ids[0] != ids[1] || ids[1] != ids[2] || ids[0] == before {
		t.Errorf("of format 3: %q", ids)
	}
}
