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

// Names returns the names of all strategies: those for clusters, and then those of package
// compared.
func Names() []string { return append(forClusters(), compared.Names()...) }

// forClusters returns the names of the strategies that are not for comparison only.
func forClusters() []string {
	return []string{originalName, randomName, weightedMoveName, weightedMoveFastName, topicsName}
}

// Compared reports whether a strategy is there for comparison only.
func Compared(name string) bool { return slices.Contains(compared.Names(), name) }

// Shadows returns the names of the strategies that run in shadow of a cluster's own. To run
// all would take three times as long as an iteration.
func Shadows() []string { return forClusters()[:4] }

// Named returns the strategy with this name and these options; missing options
// have their defaults. Errors: fault.Invalid with all mistakes, and with the
// available names.
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

// Missing says that there is no strategy of a name, which one may be meant, and which there are.
func Missing(name string) string {
	others := "; available: "
	if meant := near.Name(name, Names()); meant != "" {
		others = fmt.Sprintf("; did you mean %s? Available: ", meant)
	}
	return fmt.Sprintf("there is no strategy %q%s%s", name, others, strings.Join(Names(), ", "))
}

// CheckOrder refuses a strategy that cannot do what it is for in an order of keys:
// original packs whole owners and esdb spreads each over some shards, and owners are
// intervals of keys only in the order ByOwner. Errors: fault.Invalid, which names the
// order to be set.
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

// Options returns the options of a strategy; none for an unknown one.
func Options(name string) []Option {
	r := options.NewReader(name, nil)
	read(r, name)
	return r.Options()
}

// read returns the strategy with a name, with the options that a reader has; nil for
// an unknown one.
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
