package strategy_test

import (
	"bytes"
	"math/bits"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"adshard/balance"
	"adshard/balance/plan"
	"adshard/balance/strategy/compared"
)

// shop has tenants with items of equal weight, in a loop without a limit on its budget.
type shop struct {
	*loop
	s          balance.Strategy
	partitions int
	tenant     map[balance.Key]int
	each       []int // the number of items of each tenant
}

func newShop(t testing.TB, partitions, shardCount int, each []int) *shop {
	t.Helper()
	v := &shop{partitions: partitions, tenant: map[balance.Key]int{}, each: each, s: compared.ESDB{Partitions: partitions}}
	items, loads, item := &balance.Index{}, map[balance.Key]float64{}, uint64(0)
	for i, n := range each {
		for range n {
			item++
			k, err := balance.ByOwner.Key(uint64(i+1), item)
			if err != nil {
				t.Fatal(err)
			}
			items.Put(k, 1)
			v.tenant[k], loads[k] = i+1, 1
		}
	}
	m, p, err := plan.Initial(v.s, balance.ByOwner, shards(shardCount), items, nil)
	if err != nil {
		t.Fatal(err)
	}
	v.loop = newLoop(t, m, items, loads)
	v.budget, v.memory, v.order = 1, p.Memory, balance.ByOwner
	return v
}

// ask gives tenants their shares of the total load, spread evenly over their items.
func (v *shop) ask(parts []float64) {
	for k, i := range v.tenant {
		v.loads[k] = 1e6 * parts[i-1] / float64(v.each[i-1])
	}
}

// asksFor is the slow oracle for a rule: it returns the first of 1, 2, 4, … partitions with
// which none has more than two equal shares of the total from the tenant.
func asksFor(part float64, partitions int) int {
	l := 1
	for part/float64(l) > 2/float64(partitions)*(1+1e-9) { // sums are rounded
		l *= 2
	}
	return l
}

// partition is equation 2 of the paper: h₁ is the number of the equal part of all hashes that
// contains the tenant's hash, h₂ is the other half of the key, read from its last bit.
func partition(k balance.Key, spread, partitions int) int {
	h1 := int(uint64(k) >> 32 * uint64(partitions) >> 32)
	h2 := int(bits.Reverse32(uint32(k)))
	return (h1 + h2%spread) % partitions
}

// check compares the place of each item with the equation; shards get partitions in turn.
func (v *shop) check(t interface{ Fatalf(string, ...any) }, spread []int) {
	for k, i := range v.tenant {
		want := balance.ShardID(partition(k, spread[i-1], v.partitions)%len(v.m.Shards()) + 1)
		if got := v.m.At(k).Shard; got != want {
			t.Fatalf("item %x of tenant %d, which %d partitions have, is on shard %d, not %d", uint64(k), i, spread[i-1], got, want)
		}
	}
}

// TestESDBLargestRuleWins: at the start, each tenant has as many partitions as its storage
// requires. Later, whatever the load, it has the most that its storage or load has ever
// required: each item is where the paper's equation puts it. A balancer that is started again
// continues with the same rules.
func TestESDBLargestRuleWins(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		partitions := rapid.SampledFrom([]int{8, 16, 64}).Draw(rt, "partitions")
		each := rapid.SliceOfN(rapid.SampledFrom([]int{1, 3, 20, 100}), 2, 9).Draw(rt, "items")
		v := newShop(t, partitions, rapid.IntRange(1, 5).Draw(rt, "shards"), each)
		all, spread := 0, make([]int, len(each))
		for _, n := range each {
			all += n
		}
		for i, n := range each {
			spread[i] = asksFor(float64(n)/float64(all), partitions)
		}
		v.check(rt, spread)
		for range 4 {
			parts, sum := make([]float64, len(each)), 0.0
			for i := range parts {
				parts[i] = rapid.SampledFrom([]float64{0, 1, 5, 40}).Draw(rt, "load")
				sum += parts[i]
			}
			if sum == 0 {
				continue
			}
			for i := range parts {
				parts[i] /= sum
				spread[i] = max(spread[i], asksFor(parts[i], partitions))
			}
			v.ask(parts)
			v.rest(v.s)
			v.check(rt, spread)
			v.s = compared.ESDB{Partitions: partitions}
		}
	})
}

// TestESDBMovesHalf: a tenant whose spread doubles moves half of its items, the others none.
// When its load is gone it stays spread, because the rule is remembered.
func TestESDBMovesHalf(t *testing.T) {
	v := newShop(t, 64, 8, slices.Repeat([]int{500}, 40))
	v.rest(v.s)
	even := slices.Repeat([]float64{1.0 / 40}, 40)
	hot := slices.Repeat([]float64{0.94 / 39}, 40)
	hot[7] = 0.06
	before := v.owners()
	v.ask(hot)
	v.rest(v.s)
	moved := 0
	for k, n := range v.owners() {
		if n != before[k] {
			if moved++; v.tenant[k] != 8 {
				t.Fatalf("an item of tenant %d moves", v.tenant[k])
			}
		}
	}
	if moved < 200 || moved > 300 {
		t.Errorf("%d of 500 items move when the spread doubles", moved)
	}
	v.ask(even)
	if p, err := v.s.Iterate(v.exact()); err != nil || len(p.Ops) > 0 || !bytes.Equal(p.Memory, v.memory) {
		t.Errorf("%v, %v after the load has gone", p.Ops, err)
	}
	v.memory = nil
	if p, err := v.s.Iterate(v.exact()); err != nil || len(p.Ops) == 0 {
		t.Errorf("%v: without a memory it is spread as if nothing had been", err)
	}
}

// TestESDBJoin: even with tenants in many partitions, a joining shard changes nothing between
// the others, and gets its share.
func TestESDBJoin(t *testing.T) {
	v := newShop(t, 256, 6, append(slices.Repeat([]int{20}, 200), 2000, 900, 400))
	before := v.owners()
	e := v.m.Edit()
	id, err := e.Join("late", balance.Site{})
	if err != nil {
		t.Fatal(err)
	}
	v.m, v.budget = model(t, e), 0.02
	v.rest(v.s)
	moved := 0
	for k, n := range v.owners() {
		if n != before[k] {
			if moved++; n != id {
				t.Fatalf("%x goes from shard %d to shard %d", uint64(k), before[k], n)
			}
		}
	}
	if part := float64(moved) / float64(len(before)); part < 0.08 || part > 0.22 {
		t.Errorf("%.3f of all items move, an equal part is %.3f", part, 1.0/7)
	}
}

// TestESDBIsMoreEven is figure 13 d of the paper: with tenants by Zipf's law, the largest of
// 512 partitions is far larger than the smallest one if a tenant is in one partition; with
// dynamic secondary hashing the ratio is a tenth of that. Here, a shard has one partition.
func TestESDBIsMoreEven(t *testing.T) {
	const tenants, partitions = 20_000, 512
	each, sum := make([]int, tenants), 0
	for i := range each {
		each[i] = max(1, 8000/(i+1))
		sum += each[i]
	}
	v := newShop(t, partitions, partitions, each)
	var dynamic, hashing [partitions]int
	for k := range v.tenant {
		dynamic[v.m.At(k).Shard-1]++
		hashing[partition(k, 1, partitions)]++
	}
	ratio := func(list []int) float64 { return float64(slices.Max(list)) / float64(slices.Min(list)) }
	t.Logf("largest ÷ smallest of %d partitions with %d items: hashing %.0f, dynamic %.1f; %d bytes remembered", partitions, sum, ratio(hashing[:]), ratio(dynamic[:]), len(v.memory))
	if ratio(hashing[:]) < 8*ratio(dynamic[:]) {
		t.Errorf("largest ÷ smallest partition: %.1f with hashing, %.1f with dynamic", ratio(hashing[:]), ratio(dynamic[:]))
	}
}

// TestESDBIsBounded: what the strategy remembers, and the number of slices into which it cuts
// tenants, are bounded, however many tenants have been hot.
func TestESDBIsBounded(t *testing.T) {
	const tenants = 14_000
	v := newShop(t, 4096, 3, slices.Repeat([]int{1}, tenants))
	for _, hot := range []int{2000, 60} { // at the same time
		for from := 0; from+hot <= tenants && from < 20*hot; from += hot {
			parts := slices.Repeat([]float64{0.01 / tenants}, tenants)
			for i := range hot {
				parts[from+i] = 0.99 / float64(hot)
			}
			v.ask(parts)
			in := v.exact()
			in.May = func(uint64, balance.ShardID) (bool, string) { return false, "not yet" }
			p, err := v.s.Iterate(in)
			if err != nil {
				t.Fatal(err)
			}
			if len(p.Memory) > balance.MaxMemory {
				t.Fatalf("it wants to remember %d bytes", len(p.Memory))
			}
			v.memory = p.Memory
		}
	}
	p, err := v.s.Iterate(v.exact())
	if err != nil {
		t.Fatal(err)
	}
	m, err := v.m.Apply(p.Ops)
	if err != nil {
		t.Fatal(err)
	}
	told := slices.ContainsFunc(p.Reasons, func(r balance.Reason) bool { return bytes.Contains([]byte(r.Text), []byte("too many rules")) })
	if n := len(m.Slices()); n < 40_000 || n > 60_000 || !told {
		t.Errorf("%d slices, told that there are too many rules: %v", n, told)
	}
}
