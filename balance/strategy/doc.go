// Package strategy holds the balancing strategies, one file each, each with
// its source. A strategy reads the model and the items' weights and proposes
// operations with a reason for each; package balance checks and applies them.
//
// Goals: the same input gives the same proposal; reasons that a person
// understands. Non-goals: moving data, timing, state on disk.
package strategy

import (
	"adshard/balance"
	"adshard/fault"
)

// Named returns the strategy with this name. Errors: fault.Invalid with the
// names that there are.
func Named(name string) (balance.Strategy, error) {
	if name == originalName {
		return Original{}, nil
	}
	return nil, fault.Field("strategy", "strategy", "there is no strategy %q; there is: %v", name, Names())
}

// Names returns the names of all strategies.
func Names() []string { return []string{originalName} }
