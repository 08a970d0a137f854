package plan

import (
	"fmt"
	"time"

	"adshard/balance"
	"adshard/fault"
)

// Initial makes the first model, in which each shard has one slave.
func Initial(s balance.Strategy, order balance.Order, shards []balance.Shard, items balance.Items, limits map[string]balance.Limit) (*balance.Model, balance.Proposal, error) {
	base, err := balance.NewModel(shards)
	if err != nil {
		return nil, balance.Proposal{}, err
	}
	return InitialOn(s, order, base, items, limits, time.Time{})
}

// InitialOn makes the first model by a strategy from a base model of view 0. The mapper
// uses it, and so do stores that are built offline, for which the time is zero.
func InitialOn(s balance.Strategy, order balance.Order, base *balance.Model, items balance.Items, limits map[string]balance.Limit, at time.Time) (*balance.Model, balance.Proposal, error) {
	proposal, err := s.Initial(balance.Input{Model: base, Items: items, Order: order, Limits: balance.LimitsOf(base, limits), Time: at})
	if err != nil {
		return nil, balance.Proposal{}, fmt.Errorf("strategy %s: %w", s.Name(), err)
	}
	if why := CheckMemory(proposal.Memory); why != "" {
		return nil, balance.Proposal{}, fault.Newf(fault.Invalid, "balance: plan", "strategy %s: %s", s.Name(), why)
	}
	model, err := base.Apply(proposal.Ops)
	if err != nil {
		return nil, balance.Proposal{}, fmt.Errorf("strategy %s made an impossible proposal: %w", s.Name(), err)
	}
	return model, proposal, nil
}

// CheckMemory returns why a strategy's memory is not accepted, or "" if it is.
func CheckMemory(b []byte) string {
	if len(b) <= balance.MaxMemory {
		return ""
	}
	return fmt.Sprintf("it wants to remember %d bytes, and a strategy may remember at most %d", len(b), balance.MaxMemory)
}
