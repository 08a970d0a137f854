package esdb

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// config returns a short run with coarse writes.
func config(p Policy, theta, rate float64) Config {
	return Config{Policy: p, Phases: []Phase{{Theta: theta}}, Tenants: manyTenants, Rate: rate, Duration: 15 * time.Second, Warmup: 5 * time.Second,
		Each: 50, Buffer: 1000, Storage: theta, Commit: usual(), Seed: 1}
}

// TestOneRoute: whatever the clocks, delays and losses, and however soon rules take effect,
// each write is routed as the final rules say.
func TestOneRoute(t *testing.T) {
	skews := skewsOf(manyTenants, 0, 1, 1.5)
	committed, aborted := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		ms := func(name string, least, most int) time.Duration {
			return time.Duration(rapid.IntRange(least, most).Draw(t, name)) * time.Millisecond
		}
		c := config(Dynamic, 0, 50_000)
		c.Storage, c.Each, c.Duration, c.Warmup = -1, 200, 8*time.Second, 0
		c.Phases = []Phase{{}, {From: time.Second, Theta: 1.5}, {From: 4 * time.Second, Theta: 1, Shift: 5000}}
		c.Commit = Commit{Period: ms("period", 300, 2000), Ahead: ms("ahead", 20, 3000), Trip: ms("trip", 1, 400),
			ClockError: ms("clock", 0, 1000), Loss: rapid.SampledFrom([]float64{0, 0.05, 0.3}).Draw(t, "loss")}
		c.Seed = rapid.Uint64().Draw(t, "seed")
		r := run(c, skews, true)
		if r.Misrouted > 0 {
			t.Fatalf("%d writes are not where the rules say; %d rules committed, %d aborted", r.Misrouted, r.Committed, r.Aborted)
		}
		committed, aborted = committed+r.Committed, aborted+r.Aborted
	})
	if committed == 0 || aborted == 0 {
		t.Errorf("%d proposals committed and %d aborted: one of them was not tried", committed, aborted)
	}
}

// TestRules: of the rules before a record's creation, the largest spread counts, whatever
// their order; spreads never shrink; a read covers all shards that writes went to.
func TestRules(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := newRules()
		type added struct {
			from   time.Duration
			spread int
		}
		var all []added
		for range rapid.IntRange(0, 10).Draw(t, "rules") {
			a := added{time.Duration(rapid.IntRange(0, 9).Draw(t, "from")), 1 << rapid.IntRange(0, 9).Draw(t, "spread")}
			all = append(all, a)
			r.add(a.from, a.spread, 7)
		}
		created := time.Duration(rapid.IntRange(0, 10).Draw(t, "created"))
		want := 1
		for _, a := range all {
			if a.from < created {
				want = max(want, a.spread)
			}
		}
		if got := r.write(7, created); got != want || r.read(7) < got || r.write(7, created+1) < got || r.write(8, created) != 1 {
			t.Fatalf("%d, want %d", got, want)
		}
		record, spread := rapid.Uint64().Draw(t, "record"), r.write(7, created)
		if at := (shard(7, record, spread, shards) - first(7, shards) + shards) % shards; at >= r.read(7) {
			t.Fatalf("the record is %d shards after the first, of which %d are read", at, r.read(7))
		}
	})
}

// TestOffset: no shard gets more than two shards' share, with the smallest possible spread.
func TestOffset(t *testing.T) {
	for part, want := range map[float64]int{0: 1, 2.0 / shards: 1, 2.1 / shards: 2, 0.083: 32, 0.6: 256, 1: 256} {
		if got := offset(part, shards); got != want {
			t.Errorf("%v: %d, want %d", part, got, want)
		}
	}
}

// TestBalancedAndNot: with even tenants all policies reach what the nodes can do. With
// skewed ones hashing reaches less, and the others hardly less. The same seed gives the
// same result.
func TestBalancedAndNot(t *testing.T) {
	skews := skewsOf(manyTenants, 0, 1)
	for _, p := range policies {
		even := run(config(p, 0, 160_000), skews, false).Throughput
		skewed := run(config(p, 1, 160_000), skews, false)
		if even < 120_000 || even > 141_000 {
			t.Errorf("%v: %.0f writes/s of even tenants", p, even)
		}
		if least := 100_000.0; p == Hashing && skewed.Throughput > 120_000 || p != Hashing && skewed.Throughput < least {
			t.Errorf("%v: %.0f writes/s of skewed tenants", p, skewed.Throughput)
		}
		if again := run(config(p, 1, 160_000), skews, false); again.Throughput != skewed.Throughput || again.Delay != skewed.Delay || !slices.Equal(again.Shards, skewed.Shards) {
			t.Errorf("%v: the same seed gave %+v and %+v", p, skewed, again)
		}
		if idle := run(config(p, 0, 20_000), skews, false); idle.Throughput < 19_000 || idle.Throughput > 21_000 || idle.Delay > 0.05 {
			t.Errorf("%v: %.0f of 20,000 writes/s, delay %.3f s", p, idle.Throughput, idle.Delay)
		}
	}
}
