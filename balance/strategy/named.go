package strategy

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"adshard/balance"
	"adshard/balance/strategy/compared"
	"adshard/balance/strategy/options"
	"adshard/fault"
	"adshard/internal/near"
)

// Default is the name of the strategy of a new cluster.
const Default = weightedMoveFastName

// Option describes an option of a strategy.
type Option = options.Option

// Names returns the names of all strategies: first those for clusters, then those of package
// compared.
func Names() []string { return append(forClusters(), compared.Names()...) }

// forClusters returns the names of the strategies that are not only for comparison.
func forClusters() []string {
	return []string{originalName, randomName, weightedMoveName, weightedMoveFastName, topicsName}
}

// Compared reports whether a strategy is only for comparison.
func Compared(name string) bool { return slices.Contains(compared.Names(), name) }

// Shadows returns the names of the strategies that run in shadow beside a cluster's own. All
// strategies together would take three times as long as an iteration.
func Shadows() []string { return forClusters()[:4] }

// Named returns the strategy with this name and these options. Missing options have their
// defaults. Errors: fault.Invalid, with all mistakes, or with the available names if there is no
// such strategy.
func Named(name string, set ...map[string]string) (balance.Strategy, error) {
	given := make(map[string]string)
	for _, o := range set {
		maps.Copy(given, o)
	}
	r := options.NewReader(name, given)
	s := read(r, name)
	if s == nil {
		return nil, fault.Field("", "strategy", "%s", Missing(name))
	}
	if err := r.Err(); err != nil {
		return nil, err
	}
	return s, nil
}

// Missing returns the text that says that there is no strategy with a name, which name may be
// meant, and which names there are.
func Missing(name string) string {
	others := "; available: "
	if meant := near.Name(name, Names()); meant != "" {
		others = fmt.Sprintf("; did you mean %s? Available: ", meant)
	}
	return fmt.Sprintf("there is no strategy %q%s%s", name, others, strings.Join(Names(), ", "))
}

// CheckOrder returns an error if a strategy cannot work with an order of keys: original packs
// whole owners, and esdb spreads each owner over some shards, but owners are intervals of keys
// only in the order ByOwner. Errors: fault.Invalid, which names the order to be set.
func CheckOrder(name string, order balance.Order) error {
	what := compared.NeedsOwners(name)
	if name == originalName {
		what = "places whole advertisers"
	}
	if what == "" || order == balance.ByOwner {
		return nil
	}
	return fault.Field("strategy", "order",
		"the strategy %s %s, which needs the order %s, and this is %s: "+
			"make a new cluster with --order %s, or choose another strategy", name, what, balance.ByOwner, order, balance.ByOwner)
}

// Options returns the options of a strategy, or none if there is no such strategy.
func Options(name string) []Option {
	r := options.NewReader(name, nil)
	read(r, name)
	return r.Options()
}

// read returns the strategy with a name and the options that a reader has, or nil if there is no
// such strategy.
func read(r *options.Reader, name string) balance.Strategy {
	switch name {
	case originalName:
		return readOriginal(r)
	case randomName:
		return readRandom(r)
	case weightedMoveName:
		return readWeightedMove(r, name, Plain())
	case weightedMoveFastName:
		return readWeightedMove(r, name, Fast())
	case topicsName:
		return readTopics(r)
	}
	return compared.Read(r, name)
}
