package balancer

import (
	"context"
	"errors"

	"adshard/balance"
	"adshard/balance/strategy"
	"adshard/fault"
	"adshard/internal/node/httpapi/api"
)

// BalancePlan implements admin.Control.
func (c control) BalancePlan(context.Context) (*api.BalancePlan, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	m := c.look()
	if m == nil {
		return nil, c.noPlan()
	}
	st := c.mapper.Status(c.now())
	p, err := c.mapper.Plan(c.now())
	if err != nil && !fault.Is(err, fault.Conflict) {
		return nil, err
	}
	out := m.plan(p)
	out.Strategy, out.Shadows = st.Strategy, predictions(st.Shadows)
	if err != nil {
		out.Refused, out.After = causeOf(err), out.Before
	}
	return out, nil
}

// plan shows a proposal.
func (m *measured) plan(p balance.Proposal) *api.BalancePlan {
	out := &api.BalancePlan{
		Measured: m.byLoad(), Before: m.even.Ratio(), After: p.Expected.Ratio(), LowerBound: m.bound.MaxOverMean, BoundWhy: m.bound.Why,
		LeastMove: api.LeastMove{Weight: m.leastWeight, Share: m.leastShare}, Operations: []api.PlannedOperation{}, Left: []api.LeftAlone{},
		Shadows: []api.Prediction{},
	}
	why := make([]string, len(p.Ops))
	for _, r := range p.Reasons {
		if r.Op >= 0 && r.Op < len(p.Ops) {
			why[r.Op] = r.Text
		} else {
			out.Left = append(out.Left, api.LeftAlone{Slice: r.Slice, Why: r.Text})
		}
	}
	if len(p.Ops) == 0 {
		out.After = out.Before
	}
	e := m.in.Model.Edit()
	for i, o := range p.Ops {
		v := m.operation(e, o)
		v.Why = why[i]
		if o.Kind == balance.OpStart {
			out.Moves++
			out.Items += v.Items
			out.Weight += v.Weight
		}
		out.Operations = append(out.Operations, v)
	}
	out.Share = ratio(float64(out.Weight), float64(m.weight))
	return out
}

// operation shows an operation and does it in e; one that cannot be done is
// shown as far as it is known.
func (m *measured) operation(e *balance.Edit, o balance.Op) api.PlannedOperation {
	out := api.PlannedOperation{Slice: o.Slice, New: o.New}
	s, known := e.Slice(o.Slice)
	if known {
		sum := m.within(s.Lo, s.Hi)
		out.From, out.Items, out.Weight, out.Load = m.name(s.Node), uint64(sum.Items), sum.Weight, sum.Load
	}
	switch o.Kind {
	case balance.OpSplit:
		out.Kind, out.At = api.OperationKindSplit, keyText(o.At)
		_, _ = e.Split(o.Slice, o.At) // what is refused is told by the core
	case balance.OpMerge:
		out.Kind = api.OperationKindMerge
		_ = e.Merge(o.Slice, o.New)
	default:
		out.Kind, out.To = api.OperationKindMove, m.name(o.Node)
		_ = e.Start(o.Slice, o.Node)
	}
	return out
}

// within returns what lies in a run of keys.
func (m *measured) within(lo, hi balance.Key) (sum balance.SliceSum) {
	for i, s := range m.in.Model.Slices() {
		switch {
		case s.Hi < lo || s.Lo > hi:
		case s.Lo >= lo && s.Hi <= hi:
			sum.Items += m.sums[i].Items
			sum.Weight += m.sums[i].Weight
			sum.Load += m.sums[i].Load
		default:
			for _, v := range balance.ItemLoads(m.in, s, nil) {
				if v.Key >= lo && v.Key <= hi {
					sum.Items++
					sum.Weight += uint64(v.Weight)
					sum.Load += v.Load
				}
			}
		}
	}
	return sum
}

// causeOf is the text of an error without the operations that led to it.
func causeOf(err error) string {
	for {
		var e *fault.Error
		if !errors.As(err, &e) {
			return err.Error()
		}
		err = e.Err
	}
}

// BalanceStrategies implements admin.Control.
func (c control) BalanceStrategies(context.Context) (*api.StrategyList, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	st, set := c.mapper.Status(c.now()), c.options()
	list := &api.StrategyList{Strategies: []api.StrategyInfo{}}
	for _, name := range strategy.Names() {
		v := api.StrategyInfo{Name: name, Current: name == st.Strategy, Summary: strategy.Summary(name), Options: []api.StrategyOption{}}
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
