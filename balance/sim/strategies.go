package sim

import (
	"encoding/binary"
	"fmt"
	"slices"
	"time"

	"adshard/balance"
	"adshard/balance/strategy"
)

// named returns the strategy with a name in scenarios: chaos, keeper, or one of package
// strategy.
func (w *world) named(name string) (balance.Strategy, error) {
	switch name {
	case "chaos":
		return &chaos{r: w.rnd.fork("chaos")}, nil
	case "keeper":
		return &keeper{r: w.rnd.fork("keeper"), w: w}, nil
	}
	return strategy.Named(name)
}

// original makes the first plan in scenarios.
type original = strategy.Original

// chaos proposes moves, splits and merges at random. Now and then it proposes what is
// impossible: slices and shards that do not exist, or a slice twice.
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
		all, shards := in.Model.Slices(), in.Model.Shards()
		i := c.r.below(len(all))
		v := all[i]
		// What the edit rejects is not proposed.
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
			to := shards[c.r.below(len(shards))].ID
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

// middle returns the key of some item of a slice other than the first.
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
		return []balance.Op{{Kind: balance.OpStart, Slice: v.ID, Shard: 99}}
	case 1:
		return []balance.Op{{Kind: balance.OpStart, Slice: 1 << 40, Shard: 1}}
	case 2:
		return []balance.Op{{Kind: balance.OpSplit, Slice: v.ID, At: v.Lo, New: 1}}
	case 3:
		return []balance.Op{{Kind: balance.OpSwitch, Slice: v.ID}}
	}
	return []balance.Op{{Kind: balance.OpMap, Slice: v.ID, Shard: 1}, {Kind: balance.OpFinish, Slice: v.ID}}
}

// keeper splits slices, and remembers the newest slice and when it was split off. It
// fails the run if its memory does not fit the model. It chooses at random where slices
// that must leave go.
type keeper struct {
	original
	r *source
	w *world
}

// mostKept is the number of slices that keeper makes.
const mostKept = 60

// Name implements balance.Strategy.
func (*keeper) Name() string { return "keeper" }

// Iterate implements balance.Strategy.
func (k *keeper) Iterate(in balance.Input) (balance.Proposal, error) {
	p := balance.Proposal{Memory: in.Memory}
	if len(in.Memory) == 16 {
		id := binary.LittleEndian.Uint64(in.Memory)
		if !slices.ContainsFunc(in.Model.Slices(), func(s balance.Slice) bool { return s.ID == id }) {
			k.w.fail("keeper remembers slice %d, which the model does not have", id)
		}
	} else if len(in.Memory) > 0 {
		k.w.fail("keeper remembers %x, which it never did", in.Memory)
	}
	if in.Time.Before(time.Unix(0, 0)) {
		k.w.fail("it is %v", in.Time)
	}
	all := in.Model.Slices()
	v := all[k.r.below(len(all))]
	if v.Hi == v.Lo || len(all) >= mostKept {
		return p, nil
	}
	e := in.Model.Edit()
	id, err := e.Split(v.ID, v.Lo+1+(v.Hi-v.Lo)/2)
	if err != nil {
		return p, nil // the slice is moving
	}
	p.Ops = e.Ops()
	p.Memory = binary.LittleEndian.AppendUint64(nil, id)
	p.Memory = binary.LittleEndian.AppendUint64(p.Memory, uint64(in.Time.UnixNano()))
	return p, nil
}

// Refuges implements balance.Refuge.
func (k *keeper) Refuges(in balance.Input, leaving []balance.Slice) []balance.ShardID {
	out := make([]balance.ShardID, len(leaving))
	for i := range out {
		out[i] = balance.ShardID(k.r.below(2 + len(in.Model.Shards()))) // sometimes 0, or a shard that does not exist
	}
	return out
}
