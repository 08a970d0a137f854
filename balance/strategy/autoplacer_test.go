package strategy_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"adshard/balance"
	"adshard/balance/load"
)

// zipfOn gives the items of a loop Zipf loads in random order, and returns the items, the
// hottest first.
func (l *loop) zipfOn(seed uint64, exponent float64) (ranked []balance.Key) {
	l.items.Ascend(0, balance.MaxKey, func(k balance.Key, _ uint32) bool {
		ranked = append(ranked, k)
		return true
	})
	rand.New(rand.NewPCG(seed, 1)).Shuffle(len(ranked), func(i, j int) { ranked[i], ranked[j] = ranked[j], ranked[i] })
	for i, k := range ranked {
		l.loads[k] = math.Pow(float64(i+1), -exponent)
	}
	return ranked
}

// step asks a strategy once, executes its proposal, and returns the items that began to
// move.
func (l *loop) step(s balance.Strategy) (moved []balance.Key) {
	l.t.Helper()
	p, err := s.Iterate(l.exact())
	if err != nil {
		l.t.Fatal(err)
	}
	next, err := l.m.Apply(p.Ops)
	if err != nil {
		l.t.Fatal(err)
	}
	before := l.owners()
	l.last, l.memory = p, p.Memory
	l.settle(next, p)
	for k, shard := range l.owners() {
		if before[k] != shard {
			moved = append(moved, k)
		}
	}
	slices.Sort(moved)
	return moved
}

// TestAutoplacerCycles: each round moves some of the hottest items that were not considered
// yet, as slices of one item, and none twice in a cycle. All others stay where consistent
// hashing puts them, and the load becomes more even. At Zipf 1.0, a cycle ends, as it
// should, with a round that happens to gain little, far above the bound.
func TestAutoplacerCycles(t *testing.T) {
	for exponent, aboveBound := range map[float64]float64{0.6: 1.05, 0.8: 1.05, 1.0: 1.5} {
		l, s := placed(t, "autoplacer", map[string]string{"hottest": "16"}, 10, 5000, nil)
		ranked := l.zipfOn(7, exponent)
		plain, start := l.owners(), load.Evenness(l.truth()).Ratio()
		inCycle, ever, rounds, longest := map[balance.Key]bool{}, map[balance.Key]bool{}, 0, 0
		for range 60 {
			moved := l.step(s)
			if len(moved) > 16 {
				t.Fatalf("a round moves %d items", len(moved))
			}
			for _, k := range moved {
				if v := l.m.At(k); v.Shard != plain[k] && (v.Lo != k || v.Hi != k) {
					t.Fatalf("item %x moves with %+v", uint64(k), v)
				}
				if inCycle[k] {
					t.Fatalf("item %x moves twice in a cycle", uint64(k))
				}
				inCycle[k], ever[k] = true, true
			}
			if rank := 16 * (rounds + 1); slices.ContainsFunc(moved, func(k balance.Key) bool { return slices.Index(ranked, k) >= rank }) {
				t.Fatalf("round %d of a cycle moves an item that is not among the %d hottest", rounds, rank)
			}
			rounds++
			if longest = max(longest, len(l.memory)/8); strings.Contains(l.reasons(), "the cycle ends") {
				clear(inCycle)
				rounds = 0
			}
		}
		if len(l.last.Ops) > 0 {
			t.Errorf("Zipf %v: no rest: %s", exponent, l.reasons())
		}
		for k, shard := range l.owners() {
			if shard != plain[k] && !ever[k] {
				t.Fatalf("item %x went from shard %d to %d unseen", uint64(k), plain[k], shard)
			}
		}
		end, bound := load.Evenness(l.truth()).Ratio(), load.LowerBound(l.truth()).MaxOverMean
		t.Logf("Zipf %v: max/mean %.3f to %.3f, the bound %.3f; %d items moved, at most %d frozen, %d slices", exponent, start, end, bound, len(ever), longest, len(l.m.Slices()))
		if len(ever) == 0 || longest == 0 || end > start-0.05 || end > aboveBound*bound {
			t.Errorf("Zipf %v: from %.3f to %.3f, the bound is %.3f", exponent, start, end, bound)
		}
	}
}

// TestAutoplacerFollowsTheRing: relocated items stay when a shard joins, which gets its
// arcs from the other items; when a shard leaves, only its items move.
func TestAutoplacerFollowsTheRing(t *testing.T) {
	l, s := placed(t, "autoplacer", nil, 6, 5000, nil)
	plain := l.owners()
	l.zipfOn(3, 0.8)
	l.rest(s)
	before := l.owners()
	e := l.m.Edit()
	id, err := e.Join("late", balance.Site{})
	if err != nil {
		t.Fatal(err)
	}
	l.m = model(t, e)
	l.loads = map[balance.Key]float64{} // so that no round follows
	l.rest(s)
	has, kept := 0, 0
	after := l.owners()
	for k, shard := range after {
		switch {
		case shard == id:
			has++
		case shard != before[k]:
			t.Fatalf("at a join %x goes from shard %d to shard %d", uint64(k), before[k], shard)
		case shard != plain[k]:
			kept++
		}
	}
	if has < 400 || has > 1200 || kept < 10 {
		t.Errorf("the new shard has %d of 5000 items, %d relocated ones stay", has, kept)
	}
	e = l.m.Edit()
	if err := e.SetState(2, balance.Draining); err != nil {
		t.Fatal(err)
	}
	l.m = model(t, e)
	l.rest(s)
	for k, shard := range l.owners() {
		if shard == 2 || shard != after[k] && after[k] != 2 {
			t.Fatalf("at a leave %x goes from shard %d to shard %d", uint64(k), after[k], shard)
		}
	}
}

// TestAutoplacerKeepsFew: as other items become hot, the coolest relocated ones return and
// their slices merge, so that neither the slices nor the memory grow without bound. A
// memory that autoplacer did not write does no harm.
func TestAutoplacerKeepsFew(t *testing.T) {
	l, s := placed(t, "autoplacer", map[string]string{"relocated": "40"}, 8, 3000, nil)
	slicesAtFirst := len(l.m.Slices())
	for seed := range uint64(12) {
		l.zipfOn(seed, 0.8)
		if seed%3 == 1 {
			l.memory = []byte(strings.Repeat("another one's", int(seed)))
		}
		for range 25 {
			l.step(s)
		}
	}
	single := 0
	for _, v := range l.m.Slices() {
		if v.Lo == v.Hi {
			single++
		}
	}
	t.Logf("%d single items, %d slices, %d at first", single, len(l.m.Slices()), slicesAtFirst)
	if single < 20 || single > 40+2*16 || len(l.m.Slices()) > slicesAtFirst+2*single {
		t.Errorf("%d single items, %d slices, %d at first", single, len(l.m.Slices()), slicesAtFirst)
	}
	if len(l.memory) > balance.MaxMemory {
		t.Errorf("remembers %d bytes", len(l.memory))
	}
}

// TestAutoplacerRemembersBounded tests that a cycle ends early if there are more hot items
// than autoplacer may remember.
func TestAutoplacerRemembersBounded(t *testing.T) {
	l, s := placed(t, "autoplacer", map[string]string{"hottest": "1000", "gain": "0"}, 4, 20_000, nil)
	l.zipfOn(1, 0.5)
	most := 0
	for range 25 {
		l.step(s)
		most = max(most, len(l.memory))
	}
	if most == 0 || most > balance.MaxMemory {
		t.Errorf("remembers %d bytes", most)
	}
}

// TestAutoplacerLeavesAlone: a hot item stays on a shard that is not above the mean with
// it, even if another shard would be cooler.
func TestAutoplacerLeavesAlone(t *testing.T) {
	l, s := placed(t, "autoplacer", map[string]string{"hottest": "9"}, 3, 300, nil)
	on := map[balance.ShardID][]balance.Key{}
	l.items.Ascend(0, balance.MaxKey, func(k balance.Key, _ uint32) bool {
		shard := l.m.At(k).Shard
		on[shard] = append(on[shard], k)
		l.loads[k] = 0
		return true
	})
	for _, k := range on[1][:8] {
		l.loads[k] = 30
	}
	hottest := on[2][0]
	l.loads[hottest], l.loads[on[2][1]], l.loads[on[3][0]] = 90, 10, 1 // the mean is 114
	if moved := l.step(s); len(moved) == 0 || slices.Contains(moved, hottest) {
		t.Errorf("%d items move, the hottest one is on shard %d: %s", len(moved), l.m.At(hottest).Shard, l.reasons())
	}
}
