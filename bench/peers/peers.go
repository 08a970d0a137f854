package peers

import (
	"adshard/bench/layouts"
	"adshard/bench/peers/bleve"
	"adshard/bench/peers/lucene"
	"adshard/bench/peers/postgres"
)

// All returns the peers.
func All() []layouts.Layout {
	return []layouts.Layout{postgres.GIN{}, postgres.Anchor{}, lucene.Monitor{}, bleve.Anchored{}, bleve.Terms{}}
}
