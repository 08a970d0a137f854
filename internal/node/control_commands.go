package node

import (
	"context"

	"adshard/fault"
	"adshard/internal/node/httpapi/api"
)

// errNoCommands: the mapper takes none.
var errNoCommands = fault.Newf(fault.Unavailable, "balancer: control", "the balancer takes no commands")

// AddSlave implements admin.Control.
func (c control) AddSlave(context.Context, string) (*api.SlaveChange, error) {
	return nil, errNoCommands
}

// DrainSlave implements admin.Control.
func (c control) DrainSlave(context.Context, string) (*api.SlaveChange, error) {
	return nil, errNoCommands
}

// BalancePlan implements admin.Control.
func (c control) BalancePlan(context.Context) (*api.BalancePlan, error) { return nil, errNoCommands }

// BalanceWhy implements admin.Control.
func (c control) BalanceWhy(context.Context, uint64) (*api.SliceStory, error) {
	return nil, errNoCommands
}

// BalanceMove implements admin.Control.
func (c control) BalanceMove(context.Context, uint64, string) (*api.SliceMove, error) {
	return nil, errNoCommands
}

// BalanceStrategies implements admin.Control.
func (c control) BalanceStrategies(context.Context) (*api.StrategyList, error) {
	return nil, errNoCommands
}

// BalanceStrategy implements admin.Control.
func (c control) BalanceStrategy(context.Context, string, map[string]string) (*api.StrategyInUse, error) {
	return nil, errNoCommands
}

// BalancePause implements admin.Control.
func (c control) BalancePause(context.Context, bool) error { return errNoCommands }

// status is what the mapper knows of balancing.
func (b *Balancer) status() *api.BalanceStatus {
	report := b.mapper.Status(b.now())
	s := &api.BalanceStatus{
		Epoch: b.Epoch(), Clock: b.mapper.Clock(), Items: uint64(b.mapper.Items().Len()), Waiting: b.mapper.Waiting(),
		Strategy: report.Strategy, Options: map[string]string{}, MaxOverMean: 1, LowerBound: 1, MovesInFlight: []api.SliceMove{},
		Slaves: []api.SlaveLoad{}, Shadows: []api.Prediction{}, Events: []api.Event{}, Distributors: []api.DistributorInfo{},
		Masters: []api.MasterInfo{}, IgnoredLoads: map[string]uint64{},
	}
	if m := b.mapper.Model(); m != nil {
		s.View = m.View()
	}
	return s
}
