package served

import (
	"context"
	"math/rand/v2"

	"adshard/backend"
	"adshard/bench/layouts"
	"adshard/search"
)

// ServedMixed is the layout "served-mixed": like "served", but half of the
// keywords are broad, a quarter phrase and a quarter exact, and one group in ten
// has a negative. It finds fewer matches than layouts that have only broad
// keywords, and so reports nothing that could be compared with theirs, except
// times.
type ServedMixed struct{}

// Name implements layouts.Layout.
func (ServedMixed) Name() string { return "served-mixed" }

// Provides implements layouts.Layout.
func (ServedMixed) Provides() layouts.Provides { return layouts.Provides{} }

// Build implements layouts.Layout. The store is a *Store.
func (ServedMixed) Build(ctx context.Context, set *layouts.Set, o layouts.Options) (layouts.Store, error) {
	return open(ctx, mixedItems(set), o, RocksDB{}, true)
}

func mixedItems(set *layouts.Set) *items {
	m := newItems(set)
	m.mixed, m.common = true, set.Commonest(64)
	return m
}

// typeOf returns the match type of keyword i, which does not depend on its words.
func (m *items) typeOf(i int) search.MatchType {
	if !m.mixed {
		return search.Broad
	}
	switch dice(m.set.ID(i)).IntN(4) {
	case 0:
		return search.Exact
	case 1:
		return search.Phrase
	}
	return search.Broad
}

// negatives returns the negatives of group g: one group in ten has one of the
// commonest words, which queries have too.
func (m *items) negatives(g int) []backend.Negative {
	of := &m.set.Groups[g]
	d := dice(^of.ID)
	if d.IntN(10) != 0 {
		return nil
	}
	word := m.set.Words[m.common[d.IntN(len(m.common))]]
	return []backend.Negative{{ID: 1, GroupID: of.ID, Text: word, Words: word, Type: search.Broad, Enabled: true}}
}

// dice returns a random source for an id, which always gives the same numbers.
func dice(id uint64) *rand.Rand { return rand.New(rand.NewPCG(id, 1)) }
