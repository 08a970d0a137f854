package balancer

import (
	"adshard/balance"
	"adshard/balance/cluster"
	"adshard/balance/load"
	"adshard/balance/strategy"
)

// mapper returns the mapper's configuration. Besides the strategy in use, some others run in
// shadow, with their default options.
func (c *Config) mapper(epoch uint64, order balance.Order, use strategyChoice) (cluster.Config, error) {
	inUse, err := strategy.Named(use.Name, use.Options)
	if err != nil {
		return cluster.Config{}, err
	}
	var shadows []balance.Strategy
	for _, name := range strategy.Shadows() {
		s, err := strategy.Named(name)
		if err != nil {
			return cluster.Config{}, err
		}
		shadows = append(shadows, s)
	}
	return cluster.Config{
		Epoch: epoch, Order: order, Slaves: c.Slaves, Replicas: c.Replicas, Strategy: inUse, Shadows: shadows, Limits: limits(c.Limits),
		Budget: balance.Budget{Share: c.Budget}, Interval: c.Interval,
		DeadAfter: c.DeadAfter, EvacuateAfter: c.EvacuateAfter, MasterLease: c.MasterLease, Linger: c.Linger,
		LoadWeights: load.Weights(c.LoadWeights), HalfLife: c.HalfLife,
		Scrub: c.ScrubInterval, ScrubShare: c.ScrubShare,
	}, nil
}

func limits(list map[string]Limit) map[string]balance.Limit {
	out := make(map[string]balance.Limit, len(list))
	for name, l := range list {
		out[name] = balance.Limit{Share: l.Share, Weight: l.Weight}
	}
	return out
}
