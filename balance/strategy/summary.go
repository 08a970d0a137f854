package strategy

import "adshard/balance/strategy/compared"

// Summary describes a strategy and its source in one line. It returns "" if there is no
// such strategy.
func Summary(name string) string {
	switch name {
	case originalName:
		return "packs whole advertisers by weight, at the start and each night, and moves nothing in between"
	case randomName:
		return "places single ad groups on random shards, regardless of their load"
	case weightedMoveName:
		return "merges cool slices, moves hot ones by load above a goal over cost, splits those too hot to move (after Slicer, OSDI 2016)"
	case weightedMoveFastName:
		return "weighted-move with constants that reach balance within a minute"
	case topicsName:
		return "weighted-move-fast, and spreads each hot topic evenly while load stays in band, by what slaves sample"
	}
	return compared.Summary(name)
}
