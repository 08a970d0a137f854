package barrels_test

import (
	"context"
	"errors"
	"testing"

	"adshard/barrels"
	"adshard/barrels/barreltest"
	"adshard/barrels/kv"
	"adshard/barrels/memory"
	"adshard/schema/pb"
)

// gauge is a KV that measures batches and can fail at a given write.
type gauge struct {
	kv.DB
	writes, largest int
	fail            int // the write that fails; 0: none
}

var errWrite = errors.New("the test fails this write")

func (g *gauge) Write(b *kv.Batch) error {
	if g.writes++; g.writes == g.fail {
		return errWrite
	}
	g.largest = max(g.largest, b.Bytes()+b.Len()*64)
	return g.DB.Write(b)
}

// residue returns a store of n groups that no longer has their slice, and the
// bucket that clears it but keeps some groups.
func residue(t *testing.T, n int) (barrels.Store, *gauge, *pb.NodeData) {
	t.Helper()
	kv := &gauge{DB: memory.NewDB()}
	s := open(t, kv)
	d := barreltest.NewBuilder(t, barreltest.Small(n, "usb cable", "hdmi cable", "vga cable", "red shoes")).All()
	d.Slices.Slices[0].From, d.Slices.Slices[0].State = 0, pb.HeldState_HELD_STATE_RESIDUE
	if err := s.Apply(context.Background(), d); err != nil {
		t.Fatal(err)
	}
	kv.writes, kv.largest = 0, 0
	return s, kv, &pb.NodeData{
		From: d.To, To: barreltest.At(2), Items: d.Items[:2],
		Cleared: []*pb.Interval{{Lo: 0, Hi: 1 << 62}, {Lo: 1<<62 + 1, Hi: ^uint64(0)}},
	}
}

// TestClearIsBounded: however many groups are cleared, no batch is larger than
// that of a large bucket; the final state is the same as after a single batch.
func TestClearIsBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("short: one goroutine at a time, which no race detector need watch")
	}
	s, kv, d := residue(t, 9_900)
	defer s.Close()
	if err := s.Apply(context.Background(), d); err != nil {
		t.Fatal(err)
	}
	if kv.writes < 3 || kv.largest > 8<<20 {
		t.Fatalf("%d batches, the largest of %d bytes", kv.writes, kv.largest)
	}
	if st := s.Stats(); st.Groups != 2 || st.Keywords != 8 || st.Postings != 8 || s.Position().Clock != 2 {
		t.Fatalf("%+v", st)
	}
	t.Logf("%d batches, the largest of %d bytes", kv.writes, kv.largest)
}

// TestClearIsTakenUpAgain: whichever batch fails, the bucket can be applied
// again, and the position is never ahead of the data.
func TestClearIsTakenUpAgain(t *testing.T) {
	if testing.Short() {
		t.Skip("short: one goroutine at a time, which no race detector need watch")
	}
	for fail := 1; ; fail++ {
		s, kv, d := residue(t, 5_000)
		kv.fail = fail
		err := s.Apply(context.Background(), d)
		if err == nil {
			if fail < 3 {
				t.Fatalf("only %d batches: the test shows nothing", fail-1)
			}
			_ = s.Close()
			return
		}
		if !errors.Is(err, errWrite) || s.Position().Clock != 1 {
			t.Fatalf("%v; at %v", err, s.Position())
		}
		if err := s.Apply(context.Background(), d); err != nil {
			t.Fatal(err)
		}
		if st := s.Stats(); st.Groups != 2 || st.Postings != 8 || s.Position().Clock != 2 {
			t.Fatalf("%+v", st)
		}
		_ = s.Close()
	}
}

// TestClearOfWhatIsClaimed: data that the store claims to have are cleared in
// the bucket's own batch. Otherwise the store would temporarily serve less than
// its table says.
func TestClearOfWhatIsClaimed(t *testing.T) {
	if testing.Short() {
		t.Skip("short: one goroutine at a time, which no race detector need watch")
	}
	for name, claim := range map[string]func(*pb.NodeData, *pb.HeldSlice){
		"served": func(_ *pb.NodeData, h *pb.HeldSlice) { h.From = 1 },
		"held":   func(*pb.NodeData, *pb.HeldSlice) {},
		"filled": func(d *pb.NodeData, h *pb.HeldSlice) {
			d.To.Offset, h.State = 1<<63, pb.HeldState_HELD_STATE_FILLING
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, kv, d := residue(t, 5_000)
			defer s.Close()
			table := s.Slices()
			table.Slices[0].State = pb.HeldState_HELD_STATE_FULL
			between := &pb.NodeData{From: d.From, To: barreltest.At(9), Slices: table}
			claim(between, table.Slices[0])
			d.From = between.To
			d.Cleared = []*pb.Interval{{Lo: 0, Hi: ^uint64(0)}}
			if err := s.Apply(context.Background(), between); err != nil {
				t.Fatal(err)
			}
			kv.writes = 0
			if err := s.Apply(context.Background(), d); err != nil || kv.writes != 1 {
				t.Fatalf("%d batches, %v", kv.writes, err)
			}
		})
	}
}
