package barreltest

import (
	"adshard/barrels"
	"adshard/barrels/memory"
)

// InMemory returns an empty store in memory for the slave with this name.
func InMemory(t TB, name string) barrels.Store {
	t.Helper()
	s, err := barrels.Open(memory.NewDB(), barrels.Options{Name: name})
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	return s
}
