package strategy_test

import (
	"maps"
	"math"
	"slices"
	"testing"

	"adshard/balance"
	"adshard/balance/load"
	"adshard/balance/strategy"
	"adshard/balance/strategy/compared"
)

// TestSlicerBeginsWithEqualKeys tests that each shard starts with one slice and that all
// slices have the same width.
func TestSlicerBeginsWithEqualKeys(t *testing.T) {
	l, _ := placed(t, "slicer", nil, 7, 5000, nil)
	all := l.m.Slices()
	if len(all) != 7 {
		t.Fatalf("%d slices", len(all))
	}
	for i, s := range all {
		if width := float64(s.Hi-s.Lo) + 1; math.Abs(width/math.Exp2(64)-1.0/7) > 1e-9 || s.Shard != all[0].Shard+balance.ShardID(i) {
			t.Errorf("slice %d of shard %d: %x to %x", s.ID, s.Shard, uint64(s.Lo), uint64(s.Hi))
		}
	}
}

// slicerWorld returns a world in which everything that Slicer does happens: many slices per
// shard, a hot shard, moves that end at once.
func slicerWorld(t *testing.T, seed uint64, exponent float64) *loop {
	l := world(t, seed, 6, 60, 4000, exponent, 0.4)
	l.budget = 1
	return l
}

// TestSlicerMovesByWeight: each move, of any slice of the shard that is hottest at the time
// to the coolest one, is the one that lowers max/mean most for the number of items that it
// moves. Moves end when none lowers it, and together they are at most 9 % of all items. A
// slow oracle, which tries every move, confirms this.
func TestSlicerMovesByWeight(t *testing.T) {
	moves := 0
	for seed := range uint64(6) {
		l := slicerWorld(t, seed, 0.9)
		for range 8 {
			in := l.exact()
			p, err := compared.Slicer{}.Iterate(in)
			if err != nil {
				t.Fatal(err)
			}
			moves += checkSlicerMoves(t, in, p)
			next, err := l.m.Apply(p.Ops)
			if err != nil {
				t.Fatal(err)
			}
			l.settle(next, p)
		}
	}
	if moves < 100 {
		t.Errorf("only %d moves", moves)
	}
}

// slicerOracle holds the loads of shards and the slices that may still move.
type slicerOracle struct {
	loads  map[balance.ShardID]float64
	slices map[uint64]load.SliceSum
	at     map[uint64]balance.ShardID
	moved  int
}

func (o *slicerOracle) max() (shard balance.ShardID, most float64) {
	for n, v := range o.loads {
		if shard == 0 || v > most || v == most && n < shard {
			shard, most = n, v
		}
	}
	return shard, most
}

func (o *slicerOracle) coolest() (shard balance.ShardID) {
	for n, v := range o.loads {
		if shard == 0 || v < o.loads[shard] || v == o.loads[shard] && n < shard {
			shard = n
		}
	}
	return shard
}

// weight returns by how much a move lowers the maximum for each item; 0: it does not, or too
// many items would have moved.
func (o *slicerOracle) weight(slice uint64, to balance.ShardID, all int) float64 {
	s, from := o.slices[slice], o.at[slice]
	if s.Items == 0 || float64(o.moved+s.Items) > 0.09*float64(all) {
		return 0
	}
	_, before := o.max()
	o.loads[from] -= s.Load
	o.loads[to] += s.Load
	_, after := o.max()
	o.loads[from] += s.Load
	o.loads[to] -= s.Load
	return max(0, before-after) / float64(s.Items)
}

// best returns the largest weight of any slice of the hottest shard.
func (o *slicerOracle) best(all int) (most float64) {
	hottest, _ := o.max()
	to := o.coolest()
	for id, n := range o.at {
		if n == hottest {
			most = max(most, o.weight(id, to, all))
		}
	}
	return most
}

// checkSlicerMoves replays the moves of a proposal, except those that prepare merges, and
// returns their number.
func checkSlicerMoves(t *testing.T, in balance.Input, p balance.Proposal) (moves int) {
	t.Helper()
	o := slicerOracle{loads: load.OfShards(in), slices: map[uint64]load.SliceSum{}, at: map[uint64]balance.ShardID{}}
	for i, s := range load.OfSlices(in) {
		o.slices[in.Model.Slices()[i].ID], o.at[in.Model.Slices()[i].ID] = s, in.Model.Slices()[i].Shard
	}
	mean, all, merged := meanOf(o.loads)*float64(len(o.loads))/float64(len(o.slices)), in.Items.Len(), 0
	for _, op := range p.Ops {
		s := o.slices[op.Slice]
		switch {
		case op.Kind == balance.OpMerge: // neither slice moves in this iteration
			delete(o.at, op.Slice)
			delete(o.at, op.New)
		case op.Kind == balance.OpStart && o.merges(in.Model, op, mean):
			merged += s.Items
			o.start(op)
		case op.Kind == balance.OpStart:
			hottest, _ := o.max()
			if to := o.coolest(); o.at[op.Slice] != hottest || op.Shard != to {
				t.Fatalf("slice %d goes from shard %d to %d; the hottest is %d, the coolest %d", op.Slice, o.at[op.Slice], op.Shard, hottest, to)
			}
			if got, want := o.weight(op.Slice, op.Shard, all), o.best(all); got < want*(1-1e-9) || got == 0 {
				t.Fatalf("slice %d moves with weight %v, another one has %v", op.Slice, got, want)
			}
			moves++
			o.moved += s.Items
			o.start(op)
		}
	}
	if float64(merged) > 0.01*float64(all) {
		t.Fatalf("%d of %d items move to merge", merged, all)
	}
	if left := o.best(all); left > 1e-6*mean/float64(all) {
		t.Fatalf("after %d moves one of weight %v is left", moves, left)
	}
	return moves
}

// start moves a slice to a shard; it cannot move again in this iteration.
func (o *slicerOracle) start(op balance.Op) {
	o.loads[o.at[op.Slice]] -= o.slices[op.Slice].Load
	o.loads[op.Shard] += o.slices[op.Slice].Load
	delete(o.at, op.Slice)
}

// merges reports whether a move brings a slice to a neighbour with which it is cool together,
// before anything has moved for balance.
func (o *slicerOracle) merges(m *balance.Model, op balance.Op, mean float64) bool {
	all := m.Slices()
	i := slices.IndexFunc(all, func(s balance.Slice) bool { return s.ID == op.Slice })
	for _, j := range []int{i - 1, i + 1} {
		if o.moved == 0 && j >= 0 && j < len(all) && all[j].Shard == op.Shard && o.slices[op.Slice].Load+o.slices[all[j].ID].Load < mean {
			return true
		}
	}
	return false
}

func meanOf(loads map[balance.ShardID]float64) (mean float64) {
	for _, v := range loads {
		mean += v / float64(len(loads))
	}
	return mean
}

// TestSlicerMergesAndSplits: only cool neighbours on a shard with more than 50 slices merge;
// only slices of twice the mean are split, on shards with fewer than 150, and their parts
// stay there.
func TestSlicerMergesAndSplits(t *testing.T) {
	merged, split, mostSlices := 0, 0, 0
	for seed := range uint64(4) {
		l := slicerWorld(t, seed, 1.1)
		for range 30 {
			in := l.exact()
			p, err := compared.Slicer{}.Iterate(in)
			if err != nil {
				t.Fatal(err)
			}
			sums, on, byID := load.OfSlices(in), map[balance.ShardID]int{}, map[uint64]int{}
			total := 0.0
			for i, s := range l.m.Slices() {
				total, byID[s.ID] = total+sums[i].Load, i
				on[s.Target()]++
			}
			mean := total / float64(len(sums))
			for _, op := range p.Ops {
				s := l.m.Slices()[byID[op.Slice]]
				switch op.Kind {
				case balance.OpMerge:
					if both := sums[byID[op.Slice]].Load + sums[byID[op.New]].Load; both >= mean || on[s.Shard] <= 50 {
						t.Fatalf("two slices with %.2f x the mean merge on a shard of %d", both/mean, on[s.Shard])
					}
					merged++
					on[s.Shard]--
				case balance.OpStart:
					on[s.Shard]--
					on[op.Shard]++
				case balance.OpSplit:
					if sums[byID[op.Slice]].Load < 2*mean || on[s.Shard] >= 150 {
						t.Fatalf("a slice of %.2f x the mean is split on a shard of %d", sums[byID[op.Slice]].Load/mean, on[s.Shard])
					}
					split++
					on[s.Shard]++
				}
			}
			next, err := l.m.Apply(p.Ops)
			if err != nil {
				t.Fatal(err)
			}
			l.settle(next, p)
			for _, n := range on {
				mostSlices = max(mostSlices, n)
			}
		}
	}
	t.Logf("%d merges, %d splits, at most %d slices a shard", merged, split, mostSlices)
	if merged < 10 || split < 10 {
		t.Errorf("%d merges, %d splits", merged, split)
	}
}

// TestSlicerHasNoDeadBand: under a load that varies by a tenth, Slicer goes on moving
// forever, whereas weighted-move rests once it is balanced.
func TestSlicerHasNoDeadBand(t *testing.T) {
	late := map[string]int{}
	for _, name := range []string{"slicer", "weighted-move"} {
		s, err := strategy.Named(name)
		if err != nil {
			t.Fatal(err)
		}
		l := world(t, 1, 8, 50, 4000, 0.6, 0.4)
		truth := maps.Clone(l.loads)
		keys := slices.Sorted(maps.Keys(truth))
		for i := range 40 {
			for _, k := range keys {
				l.loads[k] = truth[k] * (0.9 + 0.2*l.rand.Float64())
			}
			before := l.started
			l.iterate(s)
			if i >= 30 {
				late[name] += l.started - before
			}
		}
		if ratio := load.Evenness(l.truth()).Ratio(); ratio > 1.2 {
			t.Errorf("%s: max/mean is %.3f after 40 iterations", name, ratio)
		}
	}
	t.Log(late)
	if late["slicer"] < 5 || late["weighted-move"] > 0 {
		t.Errorf("moves in the last ten of 40 iterations: %v", late)
	}
}
