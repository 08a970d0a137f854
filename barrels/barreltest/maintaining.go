package barreltest

import (
	"context"
	"fmt"
	"testing"

	"adshard/backend"
	"adshard/barrels"
	"adshard/schema/pb"
	"adshard/search"
)

func maintain(t TB, s barrels.Store) {
	t.Helper()
	if err := s.Maintain(context.Background()); err != nil {
		t.Fatalf("maintain: %v", err)
	}
}

// sweeping checks that parents without groups are removed.
func sweeping(t *testing.T, open Open) {
	s := open(t, "sweeping")
	defer s.Close()
	w := Small(5, "usb cable")
	b := NewBuilder(t, w)
	put(t, s, b.All())
	put(t, s, &pb.NodeData{From: At(1), To: At(2), Deleted: []uint64{Key(t, w.Items[0]), Key(t, w.Items[3])}})
	maintain(t, s)
	if st := s.Stats(); st.Campaigns != 3 || st.Advertisers != 3 {
		t.Fatalf("%+v", st)
	}
	matches(t, s, "usb cable", 3)
	put(t, s, &pb.NodeData{
		From: At(2), To: At(3), Items: []*pb.Item{b.Item(w.Items[0])},
		Campaigns: []*pb.Campaign{b.Campaign(w.Campaigns[0])}, Advertisers: b.All().Advertisers[:1],
	})
	matches(t, s, "usb cable", 4)
	closeStore(t, s)
	s = open(t, "sweeping")
	if st := s.Stats(); st.Campaigns != 4 || st.Advertisers != 4 {
		t.Fatalf("opened again: %+v", st)
	}
}

// drifting checks that keywords whose anchor was once rare get another anchor when it no longer is,
// so that a search reads less.
func drifting(t *testing.T, open Open) {
	s := open(t, "drifting")
	defer s.Close()
	w := Small(2)
	add := func(it *backend.Item, n int, text string) {
		for i := range n {
			id := it.Group.ID*1000 + uint64(len(it.Keywords))
			it.Keywords = append(it.Keywords, backend.Keyword{
				ID: id, GroupID: it.Group.ID, Text: fmt.Sprintf(text, i), Type: search.Broad,
				KeywordSettings: backend.KeywordSettings{Enabled: true, Bid: 1_000_000, HasBid: true, Quality: 5},
			})
		}
	}
	add(w.Items[0], 20, "alpha%d beta")
	b := NewBuilder(t, w)
	put(t, s, b.All())
	add(w.Items[1], 200, "alpha3 gamma%d") // alpha3 is no longer rare
	put(t, s, &pb.NodeData{From: At(1), To: At(2), Items: []*pb.Item{b.Item(w.Items[1])}})
	if n := ask(t, s, query(t, "alpha3")).Work.Examined; n != 1 {
		t.Fatalf("%d postings at alpha3", n)
	}
	maintain(t, s)
	if n := ask(t, s, query(t, "alpha3")).Work.Examined; n != 0 {
		t.Fatalf("%d postings at alpha3 after maintenance", n)
	}
	for i := range 20 {
		matches(t, s, fmt.Sprintf("beta alpha%d", i), 1)
	}
	matches(t, s, "alpha3 beta gamma3 gamma44", 3)
	put(t, s, &pb.NodeData{From: At(2), To: At(3), Deleted: []uint64{Key(t, w.Items[0])}})
	matches(t, s, "beta alpha3 alpha5", 0)
	w.Items = w.Items[1:]
	SameStats(t, s, w)
}

// packing checks that blocks which deletions have left small are joined, and that nothing is lost.
func packing(t *testing.T, open Open) {
	s := open(t, "packing")
	defer s.Close()
	const groups, each = 60, 20
	w := Small(1)
	w.Items = nil
	for g := range uint64(groups) {
		it := Small(1, "x").Items[0]
		k := it.Keywords[0]
		it.Group.ID, it.Keywords = g+1, nil
		for i := range uint64(each) {
			k.ID, k.GroupID, k.Text = g*each+i+1, g+1, "cable" // one term for all
			it.Keywords = append(it.Keywords, k)
		}
		w.Items = append(w.Items, it)
	}
	b := NewBuilder(t, w)
	put(t, s, b.All())
	full := s.Stats().Blocks
	if full < groups*each/192 || full > groups*each/100 {
		t.Fatalf("%d postings of one term in %d blocks", groups*each, full)
	}
	d := &pb.NodeData{From: At(1), To: At(2)}
	for i, it := range w.Items {
		if i%6 != 0 {
			d.Deleted = append(d.Deleted, Key(t, it))
		}
	}
	put(t, s, d)
	matches(t, s, "cable", groups/6*each)
	maintain(t, s)
	if n := s.Stats().Blocks; n > 3 {
		t.Fatalf("%d blocks for %d postings", n, groups/6*each)
	}
	matches(t, s, "cable", groups/6*each)
	put(t, s, &pb.NodeData{From: At(2), To: At(3), Items: []*pb.Item{b.Item(w.Items[1]), b.Item(w.Items[8])}})
	matches(t, s, "cable", (groups/6+2)*each)
}
