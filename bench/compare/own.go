package compare

import (
	"fmt"
	"slices"

	"adshard/balance"
	"adshard/balance/strategy"
	"adshard/fault"
)

// Own are strategies beside those of package strategy, with names of their own. Real
// clusters do not have them: their balancer is another program.
type Own []balance.Strategy

// Has reports whether a strategy is one of them.
func (o Own) Has(name string) bool {
	return slices.ContainsFunc(o, func(s balance.Strategy) bool { return s.Name() == name })
}

// Named returns the strategy with a name. Errors: fault.Invalid with the names that
// there are, and if one is there twice.
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
