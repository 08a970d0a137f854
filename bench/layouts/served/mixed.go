package served

import (
	"context"
	"math/rand/v2"

	"adshard/backend"
	"adshard/bench/layouts"
	"adshard/search"
)

// ServedMixed is the layout "served-mixed": as "served", but of the keywords a
// half is broad, a quarter phrase and a quarter exact, and one group in ten has a
// negative. It finds less than layouts that know broad keywords only, and so
// reports nothing that could be compared with them; its times stand beside theirs.
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

// typeOf is the match type of keyword i; it does not change with its words.
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

// negatives are those of group g: for one in ten one of the commonest words,
// which queries have too.
func (m *items) negatives(g int) []backend.Negative {
	of := &m.set.Groups[g]
	d := dice(^of.ID)
	if d.IntN(10) != 0 {
		return nil
	}
	word := m.set.Words[m.common[d.IntN(len(m.common))]]
	return []backend.Negative{{ID: 1, GroupID: of.ID, Text: word, Words: word, Type: search.Broad, Enabled: true}}
}

// dice are the same ones for an id whenever it is asked for.
func dice(id uint64) *rand.Rand { return rand.New(rand.NewPCG(id, 1)) }
