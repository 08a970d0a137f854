package barrels_test

import (
	"context"
	"testing"

	"google.golang.org/protobuf/proto"

	"adshard/barrels"
	"adshard/barrels/barreltest"
	"adshard/barrels/memory"
	"adshard/fault"
	"adshard/schema/pb"
	"adshard/search"
)

// FuzzNodeData: whatever a bucket contains, it is applied or refused, and the
// store goes on answering, also after it was opened again.
func FuzzNodeData(f *testing.F) {
	seed := barreltest.NewBuilder(f, barreltest.Small(2, "usb cable", "red shoes")).All()
	raw, err := proto.Marshal(seed)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(raw)
	f.Add([]byte{})
	moved := proto.CloneOf(seed)
	moved.Reset_, moved.Items = false, moved.Items[:1]
	moved.Cleared = []*pb.Interval{{Lo: 0, Hi: 1 << 40}, {Lo: 1 << 50, Hi: ^uint64(0)}}
	moved.Slices = &pb.SliceTable{View: 3, Least: 2, Slices: []*pb.HeldSlice{
		{Id: 1, Hi: 1 << 40, From: 2}, {Id: 2, Lo: 1 << 41, Hi: 1 << 60, State: pb.HeldState_HELD_STATE_FILLING},
		{Id: 3, Lo: 1 << 62, Hi: ^uint64(0), State: pb.HeldState_HELD_STATE_RESIDUE},
	}}
	if raw, err = proto.Marshal(moved); err != nil {
		f.Fatal(err)
	}
	f.Add(raw)
	repeated := proto.CloneOf(seed) // its keywords have ids of another group's
	repeated.Reset_, repeated.Items = false, repeated.Items[1:]
	repeated.Items[0].Group.Key++
	repeated.Items[0].Group.Id++
	if raw, err = proto.Marshal(repeated); err != nil {
		f.Fatal(err)
	}
	f.Add(raw)
	q, err := search.Expand("usb cable red shoes", search.Synonym, nil)
	if err != nil {
		f.Fatal(err)
	}
	r := &search.Request{Query: q, Profile: search.DefaultProfile(), Slots: 4, ExactCounts: true}
	f.Fuzz(func(t *testing.T, raw []byte) {
		d := new(pb.NodeData)
		if proto.Unmarshal(raw, d) != nil {
			return
		}
		kv := memory.NewDB()
		s := open(t, kv)
		first := proto.CloneOf(seed)
		first.To = d.From
		if d.From == nil {
			first.To = new(pb.Position)
		}
		for _, bucket := range []*pb.NodeData{first, d} {
			if err := s.Apply(context.Background(), bucket); err != nil && !fault.Is(err, fault.Invalid) {
				t.Fatal(err)
			}
		}
		answers(t, s, r)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		s = open(t, kv)
		answers(t, s, r)
		if err := s.Apply(context.Background(), &pb.NodeData{Reset_: true, To: d.From}); err != nil && d.From != nil {
			t.Fatal(err)
		}
		_ = s.Close()
	})
}

func answers(t *testing.T, s barrels.Store, r *search.Request) {
	t.Helper()
	a, err := s.Search(context.Background(), r)
	if err != nil {
		t.Fatal(err)
	}
	e, err := s.Explain(context.Background(), r, 100)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Certify(context.Background(), 0, ^uint64(0), ^uint64(0), nil); err != nil {
		t.Fatal(err)
	}
	if a.Candidates > a.Matched || a.Matched > e.Total {
		t.Fatalf("%d candidates, %d matched, %d explained", a.Candidates, a.Matched, e.Total)
	}
	if err := s.Maintain(context.Background()); err != nil {
		t.Fatal(err)
	}
}
