package strategy_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"adshard/balance"
	"adshard/balance/plan"
	"adshard/balance/strategy"
)

// nightly is a loop whose model the strategy original has planned, with a clock.
type nightly struct {
	*loop
	s   balance.Strategy
	now time.Time
}

// at returns a time of some day.
func at(day, hour, minute int) time.Time {
	return time.Date(2026, 11, day, hour, minute, 0, 0, time.UTC)
}

func newNightly(t *testing.T, count int, weights []uint32, limits map[string]balance.Limit) *nightly {
	t.Helper()
	s, err := strategy.Named("original")
	if err != nil {
		t.Fatal(err)
	}
	items := index(t, balance.ByOwner, weights)
	base, err := balance.NewModel(shards(count))
	if err != nil {
		t.Fatal(err)
	}
	m, p, err := plan.InitialOn(s, balance.ByOwner, base, items, limits, at(1, 12, 0))
	if err != nil {
		t.Fatal(err)
	}
	l := newLoop(t, m, items, map[balance.Key]float64{})
	l.memory, l.order = p.Memory, balance.ByOwner
	return &nightly{l, s, at(1, 12, 0)}
}

// ask asks the strategy at a time, executes its proposal, and returns the number of
// operations.
func (n *nightly) ask(at time.Time) int {
	n.t.Helper()
	in := n.exact()
	in.Time, in.Loads = at, nil
	p, err := n.s.Iterate(in)
	if err != nil {
		n.t.Fatal(err)
	}
	if err := check(in, p); err != nil {
		n.t.Fatal(err)
	}
	next, err := n.m.Apply(p.Ops)
	if err != nil {
		n.t.Fatal(err)
	}
	n.last, n.memory = p, p.Memory
	n.settle(next, p)
	return len(p.Ops)
}

// planned returns where a first plan would put the items.
func (n *nightly) planned() map[balance.Key]balance.ShardID {
	n.t.Helper()
	m, _, err := plan.Initial(n.s, balance.ByOwner, n.m.Shards(), n.items, nil)
	if err != nil {
		n.t.Fatal(err)
	}
	return (&loop{m: m, items: n.items}).owners()
}

// inPlace returns how many items are where a first plan would put them.
func (n *nightly) inPlace() (count int) {
	is := n.owners()
	for k, shard := range n.planned() {
		if is[k] == shard {
			count++
		}
	}
	return count
}

// grow doubles the weight of every third owner.
func (n *nightly) grow(owners int) {
	for i := 1; i <= owners; i += 3 {
		lo, hi, _ := balance.ByOwner.Owner(uint64(i))
		weights := map[balance.Key]uint32{}
		n.items.Ascend(lo, hi, func(k balance.Key, w uint32) bool {
			weights[k] = 2 * w
			return true
		})
		for k, w := range weights {
			n.items.Put(k, w)
		}
	}
	n.weight = 0
	n.items.Ascend(0, balance.MaxKey, func(_ balance.Key, w uint32) bool { n.weight += float64(w); return true })
}

// owned returns weights for the given number of owners.
func owned(count int) []uint32 {
	weights := make([]uint32, count)
	for i := range weights {
		weights[i] = uint32(10 + 7919*i%90)
	}
	return weights
}

// TestOriginalPlansAtNight: nothing moves by day, nor at night if nothing has changed.
// After a change, the night executes a plan like a first plan, once, whatever the clock
// does meanwhile.
func TestOriginalPlansAtNight(t *testing.T) {
	const count = 200
	n := newNightly(t, 4, owned(count), nil)
	for _, v := range []time.Time{at(1, 12, 1), at(1, 23, 0), at(2, 2, 59), at(2, 3, 0), at(2, 3, 1)} {
		if ops := n.ask(v); ops > 0 {
			t.Fatalf("%v: %d operations, and nothing has changed: %s", v, ops, n.reasons())
		}
	}
	n.grow(count)
	for _, v := range []time.Time{at(2, 3, 2), at(2, 12, 0), at(3, 2, 59)} { // this night's plan has been executed
		if ops := n.ask(v); ops > 0 {
			t.Fatalf("%v: %d operations: %s", v, ops, n.reasons())
		}
	}
	moved, v := n.moved, at(3, 3, 0)
	for n.ask(v) > 0 {
		if v = v.Add(10 * time.Second); v.After(at(3, 6, 0)) {
			t.Fatal("the night has ended")
		}
		if n.last.Reasons[0].Op >= 0 || !strings.Contains(n.last.Reasons[0].Text, "% of all weight is elsewhere") {
			t.Fatalf("does not say how much moves: %v", n.last.Reasons[0])
		}
	}
	if in := n.inPlace(); in != n.items.Len() {
		t.Errorf("%d of %d items are where the plan has them", in, n.items.Len())
	}
	t.Logf("%.2f of all weight moved", n.moved-moved)
	for _, v := range []time.Time{at(3, 3, 30), at(2, 3, 30), at(9, 4, 0), at(3, 4, 0), {}} { // the clock jumps
		if ops := n.ask(v); ops > 0 {
			t.Fatalf("%v: %d operations, and nothing has changed: %s", v, ops, n.reasons())
		}
	}
}

// TestOriginalNightEnds: what has not been executed by six waits for the next night, and
// a night moves everything at most once, even if weights keep changing.
func TestOriginalNightEnds(t *testing.T) {
	const count = 60
	n := newNightly(t, 4, owned(count), nil)
	n.grow(count)
	n.budget = 0.03
	if n.ask(time.Unix(-20*3600, 0)) > 0 {
		t.Fatalf("something moves though the clock is not set: %s", n.reasons())
	}
	if n.ask(at(2, 5, 59)) == 0 {
		t.Fatalf("nothing happens at night: %s", n.reasons())
	}
	for hour := 6; hour < 24; hour++ {
		if n.ask(at(2, hour, 0)) > 0 {
			t.Fatalf("at %d:00 something moves: %s", hour, n.reasons())
		}
	}
	if n.inPlace() == n.items.Len() {
		t.Fatal("one iteration carried out all")
	}
	n.moved, n.budget = 0, 0.2
	for i := range 100 {
		n.ask(at(3, 3, i%60))
		if i%4 == 3 && i < 24 {
			n.grow(count - i)
		}
	}
	if n.moved < 0.3 || n.moved > 1+n.budget {
		t.Errorf("%.2f of all weight moves in a night", n.moved)
	}
}

// TestOriginalTakesOver: if it comes into use in the middle of a night, with another
// strategy's memory or none, it waits for the next night.
func TestOriginalTakesOver(t *testing.T) {
	for _, memory := range [][]byte{nil, []byte("of another strategy")} {
		n := newNightly(t, 4, owned(60), nil)
		n.grow(60)
		n.memory = memory
		if ops := n.ask(at(2, 4, 0)) + n.ask(at(2, 4, 1)); ops > 0 {
			t.Errorf("%d operations in the first night: %s", ops, n.reasons())
		}
		if n.ask(at(3, 3, 0)) == 0 {
			t.Errorf("nothing in the second night: %s", n.reasons())
		}
	}
}

// TestOriginalNewcomers: owners that are added by day are spread over shards in
// proportion to their shares at once, even if one shard has a single large owner, and
// nothing moves for that.
func TestOriginalNewcomers(t *testing.T) {
	weights := owned(301)
	weights[0] = 20_000 // about half of the total
	n := newNightly(t, 2, weights, nil)
	giant := n.m.At(func() balance.Key { lo, _, _ := balance.ByOwner.Owner(1); return lo }()).Shard
	got, before := map[balance.ShardID]int{}, 0
	for k, shard := range n.owners() {
		if lo, _, _ := balance.ByOwner.OwnerOf(k); n.m.At(lo).Shard != shard {
			t.Fatalf("owner of %x is divided", uint64(k))
		}
		if shard == giant {
			before++
		}
	}
	const newcomers = 4000
	for owner := uint64(1000); owner < 1000+newcomers; owner++ {
		lo, hi, _ := balance.ByOwner.Owner(owner)
		if n.m.At(lo).ID != n.m.At(hi).ID {
			t.Fatalf("owner %d would be divided", owner)
		}
		got[n.m.At(lo).Shard]++
	}
	part := float64(got[giant]) / newcomers
	t.Logf("%d of %d items beside the giant's shard's; %.3f of all newcomers go there", before, n.items.Len(), part)
	if math.Abs(part-0.5) > 0.12 {
		t.Errorf("%.3f of all newcomers are on the shard of the giant", part)
	}
}
