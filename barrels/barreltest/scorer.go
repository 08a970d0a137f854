package barreltest

import (
	"sync"

	"adshard/auction"
	"adshard/barrels"
	"adshard/barrels/memory"
	"adshard/internal/oracle"
	"adshard/scorer"
	"adshard/search"
)

// Models are the scorer models that the stores of a test have.
type Models struct{ models sync.Map }

// Find is a query.Scorers function.
func (m *Models) Find(id search.ScorerID) auction.Scorer {
	if found, ok := m.models.Load(id); ok {
		return found.(*scorer.Model)
	}
	return nil
}

// Add gives the stores a model, and returns the model as the oracle reads it.
func (m *Models) Add(t TB, file []byte) *oracle.Model {
	t.Helper()
	parsed, err := scorer.Parse(file)
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	m.models.Store(parsed.ID(), parsed)
	return oracle.ReadModel(file)
}

// InMemory returns an empty store in memory for the slave with this name, with these models.
func (m *Models) InMemory(t TB, name string, cacheBytes uint64) barrels.Store {
	t.Helper()
	s, err := barrels.Open(memory.NewDB(), barrels.Options{Name: name, CacheBytes: cacheBytes, Scorers: m.Find})
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	return s
}
