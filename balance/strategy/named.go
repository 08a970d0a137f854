package strategy

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"adshard/balance"
	"adshard/fault"
)

// Option describes an option of a strategy.
type Option struct {
	Name, Default, Help string
}

// Default is the name of the strategy of a new cluster.
const Default = weightedMoveFastName

// Names returns the names of all strategies.
func Names() []string {
	return []string{
		originalName, randomName, weightedMoveName, weightedMoveFastName,
		consistentRandomName, consistentEqualName, consistentFixedName, rendezvousName,
		raoOneName, raoManyName, raoPoolName, cassandraName, srinivasanName, autoplacerName,
		topicsName, esdbName,
	}
}

// Shadows returns the names of the strategies that run in shadow of a cluster's own, the first
// four of Names. The others are for comparisons: to run them all would take three times as
// long as an iteration.
func Shadows() []string { return Names()[:4] }

// Named returns the strategy with this name and these options; missing options
// have their defaults. Errors: fault.Invalid with all mistakes, and with the
// available names.
func Named(name string, options ...map[string]string) (balance.Strategy, error) {
	given := make(map[string]string)
	for _, o := range options {
		maps.Copy(given, o)
	}
	r := &reader{strategy: name, given: given}
	s := read(r, name)
	if s == nil {
		return nil, fault.Field("strategy", "strategy", "there is no strategy %q; available: %s", name, strings.Join(Names(), ", "))
	}
	if err := r.err(); err != nil {
		return nil, err
	}
	return s, nil
}

// CheckOrder refuses a strategy that cannot do what it is for in an order of keys:
// original packs whole owners and esdb spreads each over some shards, and owners are
// intervals of keys only in the order ByOwner. Errors: fault.Invalid, which names the
// order to be set.
func CheckOrder(name string, order balance.Order) error {
	what := map[string]string{originalName: "places whole advertisers", esdbName: "spreads advertisers one by one"}[name]
	if what == "" || order == balance.ByOwner {
		return nil
	}
	return fault.Field("strategy", "order",
		"the strategy %s %s, which needs the order %s, and this is %s: "+
			"make a new cluster with --order %s, or choose another strategy", name, what, balance.ByOwner, order, balance.ByOwner)
}

// Options returns the options of a strategy; none for an unknown one.
func Options(name string) []Option {
	r := &reader{strategy: name}
	read(r, name)
	return r.options
}

// read returns the strategy with a name, with the options that a reader has; nil for
// an unknown one.
func read(r *reader, name string) balance.Strategy {
	switch name {
	case originalName:
		return readOriginal(r)
	case randomName:
		return readRandom(r)
	case weightedMoveName:
		return readWeightedMove(r, name, Published())
	case weightedMoveFastName:
		return readWeightedMove(r, name, Fast())
	case consistentRandomName:
		return ConsistentRandom{readTokens(r)}
	case consistentEqualName:
		return readConsistentEqual(r)
	case consistentFixedName:
		return readConsistentFixed(r)
	case rendezvousName:
		return readRendezvous(r)
	case raoOneName, raoManyName, raoPoolName:
		return readRao(r, name)
	case cassandraName:
		return readCassandra(r)
	case srinivasanName:
		return readSrinivasan(r)
	case autoplacerName:
		return readAutoplacer(r)
	case topicsName:
		return readTopics(r)
	case esdbName:
		return readESDB(r)
	}
	return nil
}

// reader reads options and collects their descriptions and mistakes.
type reader struct {
	strategy string
	given    map[string]string
	options  []Option
	faults   []string
}

// number reads a number from least to most.
func (r *reader) number(to *float64, name string, least, most float64, help string) {
	r.options = append(r.options, Option{name, strconv.FormatFloat(*to, 'g', -1, 64), help})
	text, ok := r.given[name]
	if !ok {
		return
	}
	delete(r.given, name)
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || !(v >= least && v <= most) {
		r.faults = append(r.faults, name+" is "+strconv.Quote(text)+", it must be a number from "+
			strconv.FormatFloat(least, 'g', -1, 64)+" to "+strconv.FormatFloat(most, 'g', -1, 64))
		return
	}
	*to = v
}

// count reads a whole number from 0 to most.
func (r *reader) count(to *int, name string, most int, help string) {
	r.options = append(r.options, Option{name, strconv.Itoa(*to), help})
	text, ok := r.given[name]
	if !ok {
		return
	}
	delete(r.given, name)
	v, err := strconv.Atoi(text)
	if err != nil || v < 0 || v > most {
		r.faults = append(r.faults, name+" is "+strconv.Quote(text)+", it must be a whole number from 0 to "+strconv.Itoa(most))
		return
	}
	*to = v
}

func (r *reader) err() error {
	for _, name := range slices.Sorted(maps.Keys(r.given)) {
		r.faults = append(r.faults, "there is no option "+strconv.Quote(name))
	}
	if len(r.faults) == 0 {
		return nil
	}
	return fault.Field("strategy", "options", "strategy %s: %s", r.strategy, strings.Join(r.faults, "; "))
}
