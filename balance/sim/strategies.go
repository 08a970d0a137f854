package sim

import (
	"fmt"

	"adshard/balance"
	"adshard/balance/strategy"
)

// named returns the strategies that scenarios know: chaos, and those of package
// strategy.
func (w *world) named(name string) (balance.Strategy, error) {
	if name == "chaos" {
		return &chaos{r: w.rnd.fork("chaos")}, nil
	}
	return strategy.Named(name)
}

// original makes the first plan of scenarios.
type original = strategy.Original

// chaos proposes moves, splits and merges at random, and now and then what
// cannot be: slices and nodes that there are none of, a slice twice.
type chaos struct {
	original
	r *source
}

// Name implements balance.Strategy.
func (*chaos) Name() string { return "chaos" }

// Iterate implements balance.Strategy.
func (c *chaos) Iterate(in balance.Input) (balance.Proposal, error) {
	if c.r.chance(20) {
		return balance.Proposal{}, fmt.Errorf("out of order")
	}
	if c.r.chance(10) {
		return balance.Proposal{Ops: c.nonsense(in)}, nil
	}
	e := in.Model.Edit()
	for range c.r.below(4) {
		all, nodes := in.Model.Slices(), in.Model.Nodes()
		i := c.r.below(len(all))
		v := all[i]
		// What the edit refuses is not proposed.
		switch c.r.below(4) {
		case 0:
			if at, ok := c.middle(in, v); ok {
				_, _ = e.Split(v.ID, at)
			}
		case 1:
			if i+1 < len(all) {
				_ = e.Merge(v.ID, all[i+1].ID)
			}
		default:
			to := nodes[c.r.below(len(nodes))].ID
			if in.May == nil {
				continue
			}
			if ok, _ := in.May(v.ID, to); ok {
				_ = e.Start(v.ID, to)
			}
		}
	}
	return balance.Proposal{Ops: e.Ops()}, nil
}

// middle returns the key of some item of a slice, not its first.
func (c *chaos) middle(in balance.Input, v balance.Slice) (at balance.Key, ok bool) {
	n := 1 + c.r.below(8)
	in.Items.Ascend(v.Lo+1, v.Hi, func(k balance.Key, _ uint32) bool {
		at, ok = k, v.Lo != balance.MaxKey
		n--
		return n > 0
	})
	return at, ok
}

func (c *chaos) nonsense(in balance.Input) []balance.Op {
	v := in.Model.Slices()[0]
	switch c.r.below(5) {
	case 0:
		return []balance.Op{{Kind: balance.OpStart, Slice: v.ID, Node: 99}}
	case 1:
		return []balance.Op{{Kind: balance.OpStart, Slice: 1 << 40, Node: 1}}
	case 2:
		return []balance.Op{{Kind: balance.OpSplit, Slice: v.ID, At: v.Lo, New: 1}}
	case 3:
		return []balance.Op{{Kind: balance.OpSwitch, Slice: v.ID}}
	}
	return []balance.Op{{Kind: balance.OpMap, Slice: v.ID, Node: 1}, {Kind: balance.OpFinish, Slice: v.ID}}
}
