package balancer

import (
	"context"

	"adshard/balance/strategy"
	"adshard/fault"
	"adshard/internal/node/httpapi/api"
)

// BalancePlan implements admin.Control.
func (c adminControl) BalancePlan(context.Context) (*api.BalancePlan, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	m := c.newSurvey()
	if m == nil {
		return nil, c.noPlan()
	}
	st := c.mapper.Status(c.now())
	p, err := c.mapper.Plan(c.now())
	if err != nil && !fault.Is(err, fault.Conflict) {
		return nil, err
	}
	out := m.Plan(p)
	out.Strategy, out.Shadows = st.Strategy, predictions(st.Shadows)
	if err != nil {
		out.Refused, out.After = fault.Cause(err), out.Before
	}
	return out, nil
}

// BalanceStrategies implements admin.Control.
func (c adminControl) BalanceStrategies(context.Context) (*api.StrategyList, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	st, set := c.mapper.Status(c.now()), c.options()
	list := &api.StrategyList{Strategies: []api.StrategyInfo{}}
	for _, name := range strategy.Names() {
		v := api.StrategyInfo{
			Name: name, Current: name == st.Strategy, Compared: strategy.Compared(name),
			Summary: strategy.Summary(name), Options: []api.StrategyOption{},
		}
		if err := strategy.CheckOrder(name, c.order); err != nil {
			v.Unusable = fault.Cause(err)
		}
		for _, o := range strategy.Options(name) {
			value, given := set[o.Name]
			if !v.Current || !given {
				value = o.Default
			}
			v.Options = append(v.Options, api.StrategyOption{Name: o.Name, Value: value, Default: o.Default, Help: o.Help})
		}
		for _, p := range predictions(st.Shadows) {
			if p.Strategy == name {
				v.Prediction = &p
			}
		}
		list.Strategies = append(list.Strategies, v)
	}
	return list, nil
}
