package load

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"adshard/balance"
)

// TestHalvesOfItems: whatever is measured, and whatever split key a slave reports, the
// loads of a slice's items sum to the slice's load, and measured items keep their loads.
// With a split key, half of the slice's load is on each side, unless the measured items
// of one side have more.
func TestHalvesOfItems(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := newLoadWorld(t, 1)
		var keys []balance.Key
		w.items.Ascend(0, balance.MaxKey, func(k balance.Key, _ uint32) bool { keys = append(keys, k); return true })
		items := map[balance.Key]uint64{}
		for range rapid.IntRange(0, 5).Draw(rt, "hot") {
			items[rapid.SampledFrom(keys).Draw(rt, "item")] = rapid.Uint64Range(1, 200).Draw(rt, "load")
		}
		for range 30 {
			w.report(1, 1, map[uint64]uint64{1: 1000}, items)
		}
		split := balance.Key(rapid.Uint64().Draw(rt, "split"))
		in := balance.Input{Model: w.m, Items: w.items, Loads: w.table.At(0, w.m, w.items), SplitKey: func(uint64) balance.Key { return split }}
		var sum, left, known float64
		var cold [2]bool // for each side: whether it has items that are not measured
		for _, v := range OfItems(in, w.m.Slices()[0], nil) {
			if v.Load < 0 || v.Hot != (items[v.Key] > 0) || v.Hot && math.Abs(v.Load-float64(items[v.Key])) > 1 {
				rt.Fatalf("%+v, measured %d", v, items[v.Key])
			}
			sum += v.Load
			if v.Hot {
				known += v.Load
			}
			if v.Key <= split {
				left += v.Load
			}
			side := 0
			if v.Key > split {
				side = 1
			}
			cold[side] = cold[side] || !v.Hot
		}
		if math.Abs(sum-1000) > 1 {
			rt.Fatalf("%v in all", sum)
		}
		if cold[0] && cold[1] && known < 500 && math.Abs(left-500) > 1 {
			rt.Fatalf("%v of 1000 up to the split key", left)
		}
	})
}

// splitReport makes shard 1 report a load and a split key for slice 1.
func (w *loadWorld) splitReport(split balance.Key) {
	w.t.Helper()
	w.number[1]++
	s := w.m.Slices()[0]
	why := w.table.Report(0, 1, w.m, &Report{Incarnation: "x", Number: w.number[1], Interval: time.Second,
		Slices: []SliceCost{{Slice: s.ID, Generation: s.Generation, Cost: Cost{Examined: 1000}, Split: split}}})
	if why != "" {
		w.t.Fatal(why)
	}
}

// TestSplitKeysReported: a slice's split key is the one reported last; a slave that does
// not know it leaves it unchanged. It stays with the slice while the slice moves, and
// ends when the slice is split or merged; the parts of a split slice divide the load by
// it.
func TestSplitKeysReported(t *testing.T) {
	w := newLoadWorld(t, 2)
	first := w.m.Slices()[0]
	var keys []balance.Key
	w.items.Ascend(first.Lo, first.Hi, func(k balance.Key, _ uint32) bool { keys = append(keys, k); return true })
	split := keys[4*len(keys)/5]
	w.splitReport(keys[3])
	w.splitReport(split)
	w.splitReport(0)
	if got := w.table.SplitKey(1); got != split {
		t.Fatalf("split key %x, want %x", got, split)
	}
	w.edit(func(e *balance.Edit) { _ = e.Start(1, 2) })
	if got := w.table.SplitKey(1); got != split {
		t.Fatalf("split key %x of a slice that moves, want %x", got, split)
	}
	w.edit(func(e *balance.Edit) { _ = e.Cancel(1) })
	var right uint64
	w.edit(func(e *balance.Edit) { right, _ = e.Split(1, split+1) })
	w.near(1, 500)
	w.near(right, 500)
	if a, b := w.table.SplitKey(1), w.table.SplitKey(right); a != 0 || b != 0 {
		t.Fatalf("split keys %x and %x after a split", a, b)
	}
}

// TestHostileSplitKeys: a split key outside its slice is refused, and so is one of
// another generation or of a slice that another shard serves; the rest of the report
// counts. A split key at which the slice cannot be cut has no effect.
func TestHostileSplitKeys(t *testing.T) {
	w := newLoadWorld(t, 2)
	first, second := w.m.Slices()[0], w.m.Slices()[1]
	w.splitReport(first.Lo + 100)
	for _, hostile := range []balance.Key{first.Hi + 1, second.Lo + 5, balance.MaxKey} {
		before := w.table.Ignored()["split key outside of its slice"]
		w.splitReport(hostile)
		if got := w.table.Ignored()["split key outside of its slice"]; got != before+1 {
			t.Errorf("%x is not refused", hostile)
		}
	}
	w.splitReport(first.Hi)
	w.number[1]++
	w.table.Report(0, 1, w.m, &Report{Incarnation: "x", Number: w.number[1], Interval: time.Second, Slices: []SliceCost{
		{Slice: 1, Generation: first.Generation + 7, Split: first.Lo + 9},
		{Slice: second.ID, Generation: second.Generation, Split: second.Lo + 9},
	}})
	if a, b := w.table.SplitKey(1), w.table.SplitKey(second.ID); a != first.Lo+100 || b != 0 || w.table.SplitKey(99) != 0 {
		t.Errorf("split keys %x and %x", a, b)
	}
	w.near(1, 1000)
}
