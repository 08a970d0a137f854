package peers

import (
	"slices"

	"adshard/bench/layouts"
	"adshard/bench/peers/bleve"
	"adshard/bench/peers/lucene"
	"adshard/bench/peers/postgres"
)

// All returns the peers.
func All() []layouts.Layout {
	return []layouts.Layout{postgres.GIN{}, postgres.Anchor{}, lucene.Monitor{}, bleve.Anchored{}, bleve.Terms{}}
}

// ByName returns the peer of that name.
func ByName(name string) (layouts.Layout, bool) {
	all := All()
	i := slices.IndexFunc(all, func(l layouts.Layout) bool { return l.Name() == name })
	if i < 0 {
		return nil, false
	}
	return all[i], true
}
