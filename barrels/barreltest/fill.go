package barreltest

import (
	"cmp"
	"context"
	"slices"
	"testing"

	"google.golang.org/protobuf/proto"

	"adshard/barrels"
	"adshard/schema/pb"
)

func sortItems(items []*pb.Item) {
	slices.SortFunc(items, func(a, b *pb.Item) int { return cmp.Compare(a.Group.Key, b.Group.Key) })
}

// Buckets cuts a corpus into buckets of about the given size in bytes, like the first fill of a
// slave: first the slices held, then the items by ascending key, and last the slices served.
func (c *Corpus) Buckets(size int) []*pb.NodeData {
	held := WholeRing()
	held.Slices[0].From = 0
	next := &pb.NodeData{Reset_: true, Slices: held, Advertisers: c.Data.Advertisers, Campaigns: c.Data.Campaigns}
	var out []*pb.NodeData
	at := At(0)
	flush := func(to *pb.Position) {
		next.From, next.To = at, to
		out = append(out, next)
		at, next = to, new(pb.NodeData)
	}
	bytes := 0
	for i, it := range c.Data.Items {
		next.Items = append(next.Items, it)
		if bytes += proto.Size(it); bytes >= size || i+1 == len(c.Data.Items) {
			bytes = 0
			flush(&pb.Position{Epoch: 1, Clock: c.Data.To.Clock, Offset: it.Group.Key + 1})
		}
	}
	next.Slices = WholeRing()
	flush(c.Data.To)
	return out
}

// Fill applies all buckets.
func Fill(t testing.TB, s barrels.Store, buckets []*pb.NodeData) {
	t.Helper()
	for _, b := range buckets {
		if err := s.Apply(context.Background(), b); err != nil {
			t.Fatalf("apply: %v", err)
		}
	}
}
