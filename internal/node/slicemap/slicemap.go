// Package slicemap computes what each shard serves in a model of package balance, and the list of
// shards that masters get.
package slicemap

import (
	"adshard/balance"
	"adshard/schema/pb"
	"adshard/search"
)

// Served says what a shard serves in a model: the number of its slices, how many of them are being
// copied to and from it, and its width.
type Served struct {
	Slices  int
	In, Out int // number being copied
	Width   search.Width
}

// ByShard returns for each shard of a model what it serves.
func ByShard(m *balance.Model) map[balance.ShardID]Served {
	out := make(map[balance.ShardID]Served, len(m.Shards()))
	for _, s := range m.Slices() {
		n := out[s.Shard]
		n.Slices++
		n.Width = n.Width.Add(search.IntervalWidth(uint64(s.Lo), uint64(s.Hi)))
		if s.Move.Phase == balance.Copying {
			n.Out++
			to := out[s.Move.Other]
			to.In++
			out[s.Move.Other] = to
		}
		out[s.Shard] = n
	}
	return out
}

// Part returns a shard's share of the ring, 0 to 1.
func (s Served) Part() float64 { return float64(s.Width.Hi) + float64(s.Width.Lo)/(1<<32)/(1<<32) }

// Shards returns the shards that serve any slice in the model's view, with their
// widths and the slaves that may be asked.
func Shards(m *balance.Model) []*pb.Shard {
	var out []*pb.Shard
	serving := ByShard(m)
	for _, sh := range m.Shards() {
		s := serving[sh.ID]
		if s.Slices == 0 {
			continue
		}
		shard := &pb.Shard{Name: sh.Name, WidthHi: s.Width.Hi, WidthLo: s.Width.Lo}
		for _, v := range m.Set(sh.ID) {
			shard.Replicas = append(shard.Replicas, &pb.Replica{Name: v.Name, Address: v.Address, Zone: v.Zone, Instance: v.Instance})
		}
		out = append(out, shard)
	}
	return out
}
