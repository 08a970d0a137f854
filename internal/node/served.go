package node

import (
	"adshard/balance"
	"adshard/schema/pb"
	"adshard/search"
)

// served is what a node serves in a model.
type served struct {
	slices  int
	in, out int // being copied
	width   search.Width
}

// servedBy returns what each node of a model serves.
func servedBy(m *balance.Model) map[balance.NodeID]served {
	out := make(map[balance.NodeID]served, len(m.Nodes()))
	for _, s := range m.Slices() {
		n := out[s.Node]
		n.slices++
		n.width = n.width.Add(search.IntervalWidth(uint64(s.Lo), uint64(s.Hi)))
		if s.Move.Phase == balance.Copying {
			n.out++
			to := out[s.Move.Other]
			to.in++
			out[s.Move.Other] = to
		}
		out[s.Node] = n
	}
	return out
}

// part is a node's part of the ring, 0 to 1.
func (s served) part() float64 { return float64(s.width.Hi) + float64(s.width.Lo)/(1<<32)/(1<<32) }

// shardsOf returns the slaves that serve something in the model's view, and how
// much.
func shardsOf(m *balance.Model) []*pb.Shard {
	var out []*pb.Shard
	serving := servedBy(m)
	for _, n := range m.Nodes() {
		if s := serving[n.ID]; s.slices > 0 {
			out = append(out, &pb.Shard{Name: n.Name, Addresses: []string{n.Address}, WidthHi: s.width.Hi, WidthLo: s.width.Lo})
		}
	}
	return out
}
