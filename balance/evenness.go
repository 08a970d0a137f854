package balance

// Evenness describes how evenly something is spread over the nodes, each divided
// by its share.
type Evenness struct {
	// Max and Mean are per share; Node is the one with the most.
	Max, Mean float64
	Node      NodeID
}

// Ratio returns max/mean, or 1 when there is nothing to spread.
func (e Evenness) Ratio() float64 {
	if e.Mean == 0 {
		return 1
	}
	return e.Max / e.Mean
}

// Measure returns how evenly the items' weights are spread over a model's nodes.
func Measure(m *Model, items Items, limits map[NodeID]Limit) Evenness {
	sums := make(map[NodeID]float64, len(m.Nodes()))
	all := m.Slices()
	i := 0
	items.Ascend(0, MaxKey, func(k Key, w uint32) bool {
		for all[i].Hi < k {
			i++
		}
		sums[all[i].Node] += float64(w)
		return true
	})
	return evenness(m, sums, limits)
}

// LoadEvenness returns how evenly the load is spread or, when none is measured,
// the items' weights. A moving slice counts at its target.
func LoadEvenness(in Input) Evenness { return evenness(in.Model, NodeLoads(in), in.Limits) }

// EvennessOf returns how evenly loads are spread over the nodes of a model that
// are active or have any load.
func EvennessOf(m *Model, loads map[NodeID]float64, limits map[NodeID]Limit) Evenness {
	return evenness(m, loads, limits)
}

// evenness counts the nodes that are active and those that have something.
func evenness(m *Model, sums map[NodeID]float64, limits map[NodeID]Limit) Evenness {
	var e Evenness
	var total, shares float64
	for _, n := range m.Nodes() {
		if n.State != Active && sums[n.ID] == 0 {
			continue
		}
		share := limits[n.ID].share()
		total += sums[n.ID]
		shares += share
		if load := sums[n.ID] / share; load > e.Max || e.Node == 0 {
			e.Max, e.Node = load, n.ID
		}
	}
	if shares > 0 {
		e.Mean = total / shares
	}
	return e
}

// share returns the node's strength.
func (l Limit) share() float64 { return float64(max(1, l.Share)) }

// Target returns the node that a slice will be on when its move is done.
func (s Slice) Target() NodeID {
	if s.Move.Phase == Copying {
		return s.Move.Other
	}
	return s.Node
}

// NodeLoads returns the load of each node, or, when none is measured, the
// weight of its items. A moving slice counts at its target.
func NodeLoads(in Input) map[NodeID]float64 {
	out := make(map[NodeID]float64, len(in.Model.Nodes()))
	for _, n := range in.Model.Nodes() {
		out[n.ID] = 0
	}
	if in.measured() {
		for _, s := range in.Model.Slices() {
			out[s.Target()] += in.Loads.Slice(s.ID)
		}
		return out
	}
	for i, s := range SliceSums(in) {
		out[in.Model.Slices()[i].Target()] += s.Load
	}
	return out
}

func (in Input) measured() bool { return in.Loads != nil && in.Loads.Measured() }

// SliceSum is the content of a slice. Load is in load a second, or, when none is
// measured, the weight.
type SliceSum struct {
	Items  int
	Weight uint64
	Load   float64
}

// SliceSums returns what lies in each of the model's slices.
func SliceSums(in Input) []SliceSum {
	all := in.Model.Slices()
	out := make([]SliceSum, len(all))
	i := 0
	in.Items.Ascend(0, MaxKey, func(k Key, w uint32) bool {
		for all[i].Hi < k {
			i++
		}
		out[i].Items++
		out[i].Weight += uint64(w)
		return true
	})
	measured := in.measured()
	for i := range out {
		out[i].Load = float64(out[i].Weight)
		if measured {
			out[i].Load = in.Loads.Slice(all[i].ID)
		}
	}
	return out
}

// ItemLoad is an item with its expected load.
type ItemLoad struct {
	Key    Key
	Weight uint32
	Load   float64
	// Hot is set when the load is measured; otherwise it is a share, by weight, of
	// the load of the slice without its hot items, or of that of its half.
	Hot bool
}

// ItemLoads appends the items of a slice, in ascending key order, to list. When no load
// is measured an item's load is its weight.
func ItemLoads(in Input, s Slice, list []ItemLoad) []ItemLoad {
	begin := len(list)
	in.Items.Ascend(s.Lo, s.Hi, func(k Key, w uint32) bool {
		list = append(list, ItemLoad{Key: k, Weight: w, Load: float64(w)})
		return true
	})
	own := list[begin:]
	if !in.measured() || len(own) == 0 {
		return list
	}
	i, h := 0, halvesOf(s, in.splitKey(s.ID))
	in.Loads.Hot(s.Lo, s.Hi, func(k Key, load float64) bool {
		for i < len(own) && own[i].Key < k {
			i++
		}
		if i < len(own) && own[i].Key == k {
			own[i].Load, own[i].Hot = load, true
			h.hot[h.side(k)] += load
		}
		return true
	})
	for _, v := range own {
		if !v.Hot {
			h.rest[h.side(v.Key)] += itemWeight(v.Weight)
		}
	}
	load, hot := in.Loads.Slice(s.ID), h.hot[0]+h.hot[1]
	known, each := h.rest == [2]float64{}, h.perWeight(load)
	for i := range own {
		switch v := &own[i]; {
		case !v.Hot:
			v.Load = each[h.side(v.Key)] * itemWeight(v.Weight)
		case known && hot > 0:
			v.Load *= load / hot
		}
	}
	return list
}

// splitKey returns the split key of a slice; 0: unknown.
func (in Input) splitKey(slice uint64) Key {
	if in.SplitKey == nil {
		return 0
	}
	return in.SplitKey(slice)
}
