package load

import (
	"math"
	"testing"
	"time"

	"adshard/balance"
)

// TestLoadOfAShard: the load of a shard is the sum of its replicas' loads, however they
// share the queries, and even if one falls silent.
func TestLoadOfAShard(t *testing.T) {
	m, err := balance.Compose([]balance.Slave{{Name: "a"}, {Name: "b"}}, 2)
	if err != nil {
		t.Fatal(err)
	}
	if m, err = m.Apply(nil); err != nil {
		t.Fatal(err)
	}
	table := NewTable(Weights{Micros: 1}, 10*time.Second)
	number, now := uint64(0), time.Duration(0)
	report := func(slave string, micros uint64) {
		t.Helper()
		r := &Report{Slave: slave, Incarnation: slave, Number: number, Interval: time.Second, Queries: micros / 10,
			Slices: []SliceCost{{Slice: 1, Generation: 1, Cost: Cost{Micros: micros}}}}
		if why := table.Report(now, 1, m, r); why != "" {
			t.Fatal(why)
		}
	}
	const total = 1000
	for _, c := range []struct {
		a, b    uint64
		seconds int
	}{{500, 500, 60}, {900, 100, 100}, {0, total, 100}} {
		for range c.seconds {
			number++
			now += time.Second
			report("a", c.a)
			report("b", c.b)
		}
		if got := table.At(now, m, &balance.Index{}).Slice(1); math.Abs(got-total) > total/10 {
			t.Errorf("%d and %d: the shard has %g, want %d", c.a, c.b, got, total)
		}
	}
	for range 100 { // a is lost, and b gets all queries
		number++
		now += time.Second
		report("b", total)
	}
	if got := table.At(now, m, &balance.Index{}).Slice(1); math.Abs(got-total) > total/10 {
		t.Errorf("of one slave: the shard has %g, want %d", got, total)
	}
	if few := table.Few([]balance.ShardID{1}); few != "" {
		t.Error(few)
	}
}
