package compare

import (
	"fmt"
	"slices"

	"adshard/balance"
	"adshard/balance/strategy"
	"adshard/fault"
)

// Own holds strategies in addition to those of package strategy, with names of their
// own. Real clusters do not have them, because their balancer is another program.
type Own []balance.Strategy

// Has reports whether a name is that of one of these strategies.
func (o Own) Has(name string) bool {
	return slices.ContainsFunc(o, func(s balance.Strategy) bool { return s.Name() == name })
}

// Named returns the strategy with a name. It returns fault.Invalid, with all known
// names, if there is none, and an error if a name is used twice.
func (o Own) Named(name string) (balance.Strategy, error) {
	names := strategy.Names()
	for _, s := range o {
		if slices.Contains(names, s.Name()) {
			return nil, fault.Field("compare", "strategy", "there are two strategies named %q: give your own another name", s.Name())
		}
		names = append(names, s.Name())
	}
	for _, s := range o {
		if s.Name() == name {
			return s, nil
		}
	}
	s, err := strategy.Named(name)
	if err != nil && len(o) > 0 {
		return nil, fmt.Errorf("%w; and your own: %v", err, names[len(names)-len(o):])
	}
	return s, err
}
