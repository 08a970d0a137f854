package admintest

import (
	"context"
	"fmt"

	"adshard/backend"
	"adshard/fault"
	"adshard/internal/node/httpapi/api"
	"adshard/search"
)

// SetBudget implements admin.Control.
func (c *Control) SetBudget(_ context.Context, campaign uint64, m backend.BudgetMark) (search.Position, error) {
	what := fmt.Sprint("budget ", campaign, " ", m.Exhausted)
	if m.Share.Op == backend.Set {
		what += fmt.Sprint(" share ", m.Share.Value)
	}
	return search.Position{Clock: 9001, Mark: 7}, c.record(what)
}

// AddSlave implements admin.Control.
func (c *Control) AddSlave(_ context.Context, address string) (*api.SlaveChange, error) {
	return &api.SlaveChange{Name: "slave-9", Address: address, State: api.SlaveStateActive}, c.record("add " + address)
}

// DrainSlave implements admin.Control.
func (c *Control) DrainSlave(_ context.Context, name string) (*api.SlaveChange, error) {
	if err := c.record("drain " + name); err != nil {
		return nil, err
	}
	for _, s := range c.Slaves.Slaves {
		if s.Name == name {
			return &api.SlaveChange{Name: name, Address: s.Address, State: api.SlaveStateDraining, Slices: s.Slices}, nil
		}
	}
	return nil, c.orUnknown("there is no slave %q; there are slave-0, slave-1 and slave-2", name)
}

// RemoveSlave implements admin.Control. Only slave-2, which is away, can be removed.
func (c *Control) RemoveSlave(_ context.Context, name string) (*api.SlaveRemoved, error) {
	if err := c.record("remove " + name); err != nil {
		return nil, err
	}
	for _, s := range c.Slaves.Slaves {
		switch {
		case s.Name == name && s.Alive:
			return nil, fault.Newf(fault.Conflict, "admintest", "%s cannot be removed: it is alive", name)
		case s.Name == name:
			return &api.SlaveRemoved{Name: name, Address: s.Address}, nil
		}
	}
	return nil, c.orUnknown("there is no slave %q; there are slave-0, slave-1 and slave-2", name)
}

// BalanceMove implements admin.Control.
func (c *Control) BalanceMove(_ context.Context, slice uint64, slave string) (*api.SliceMove, error) {
	err := c.record(fmt.Sprint("move ", slice, " ", slave))
	return &api.SliceMove{Slice: slice, From: "slave-0", To: slave, Phase: api.MovePhaseCopying, Items: 812, Weight: 9000}, err
}

// BalanceStrategy implements admin.Control.
func (c *Control) BalanceStrategy(_ context.Context, name string, options map[string]string) (*api.StrategyInUse, error) {
	if options == nil {
		options = map[string]string{}
	}
	return &api.StrategyInUse{Name: name, Options: options}, c.record(fmt.Sprint("strategy ", name, " ", options))
}

// BalanceReplicas implements admin.Control.
func (c *Control) BalanceReplicas(_ context.Context, replicas int) error {
	return c.record(fmt.Sprint("replicas ", replicas))
}

// BalancePause implements admin.Control.
func (c *Control) BalancePause(_ context.Context, paused bool) error {
	return c.record(fmt.Sprint("pause ", paused))
}
