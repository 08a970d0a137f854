package survey

import (
	"adshard/balance"
	"adshard/balance/load"
	"adshard/internal/node/httpapi/api"
)

// Plan describes a proposal of the strategy.
func (m *Survey) Plan(p balance.Proposal) *api.BalancePlan {
	out := &api.BalancePlan{
		Measured: m.ByLoad(), Before: m.Even.Ratio(), After: p.Expected.Ratio(), LowerBound: m.Bound.MaxOverMean, BoundWhy: m.Bound.Why,
		LeastMove: api.LeastMove{Weight: m.LeastWeight, Share: m.LeastShare}, Operations: []api.PlannedOperation{}, Left: []api.LeftAlone{},
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
	e := m.In.Model.Edit()
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

// operation describes an operation and applies it to e. An operation that cannot be applied is
// described as far as possible.
func (m *Survey) operation(e *balance.Edit, o balance.Op) api.PlannedOperation {
	out := api.PlannedOperation{Slice: o.Slice, New: o.New}
	s, known := e.Slice(o.Slice)
	if known {
		sum := m.within(s.Lo, s.Hi)
		out.From, out.Items, out.Weight, out.Load = m.Name(s.Shard), uint64(sum.Items), sum.Weight, sum.Load
	}
	switch o.Kind {
	case balance.OpSplit:
		out.Kind, out.At = api.OperationKindSplit, keyText(o.At)
		_, _ = e.Split(o.Slice, o.At) // the mapper reports why it refuses an operation
	case balance.OpMerge:
		out.Kind = api.OperationKindMerge
		_ = e.Merge(o.Slice, o.New)
	default:
		out.Kind, out.To = api.OperationKindMove, m.Name(o.Shard)
		_ = e.Start(o.Slice, o.Shard)
	}
	return out
}

// within returns the sums over an interval of keys.
func (m *Survey) within(lo, hi balance.Key) (sum load.SliceSum) {
	for i, s := range m.In.Model.Slices() {
		switch {
		case s.Hi < lo || s.Lo > hi:
		case s.Lo >= lo && s.Hi <= hi:
			sum.Items += m.Sums[i].Items
			sum.Weight += m.Sums[i].Weight
			sum.Load += m.Sums[i].Load
		default:
			for _, v := range load.OfItems(m.In, s, nil) {
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
