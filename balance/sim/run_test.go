package sim_test

import (
	"reflect"
	"testing"
	"time"

	"adshard/balance"
	"adshard/balance/sim"
	"adshard/balance/strategy"
)

// cluster returns a cluster of four slaves with 400 items and a skewed load.
func cluster(t *testing.T) sim.Config {
	t.Helper()
	cfg := sim.Config{
		Seed: 1, Slaves: 4, Masters: 2, Order: balance.ByOwner, Strategy: strategy.Original{},
		Duration: 20 * time.Second, QueryMicros: 20, ItemMicros: 5,
	}
	topics := sim.Topics{Rate: 200, Zipf: 1, Seed: 3, Shift: 10 * time.Second}
	for owner := range uint64(40) {
		var costs []sim.ItemCost
		for item := range uint64(10) {
			k, err := balance.ByOwner.Key(owner+1, item+1)
			if err != nil {
				t.Fatal(err)
			}
			cfg.Items = append(cfg.Items, sim.Item{Key: k, Weight: 10})
			costs = append(costs, sim.ItemCost{Key: k, Micros: 50})
		}
		topics.Costs = append(topics.Costs, costs)
	}
	cfg.Trace = topics.Trace(cfg.Duration)
	return cfg
}

func TestRunTellsWhatHappened(t *testing.T) {
	r, err := sim.Run(cluster(t))
	if err != nil {
		t.Fatal(err)
	}
	if r.Queries < 3500 || r.Complete != r.Queries || r.Missed != 0 || r.Doubled != 0 {
		t.Errorf("%d queries, %d complete, %d items missed, %d doubled", r.Queries, r.Complete, r.Missed, r.Doubled)
	}
	if len(r.Samples) != 20 || len(r.Slaves) != 4 {
		t.Fatalf("%d samples of %d slaves", len(r.Samples), len(r.Slaves))
	}
	for _, s := range r.Samples {
		sum := uint64(0)
		for _, w := range s.Weight {
			sum += w
		}
		if sum != 4000 || s.MaxOverMean < 1 || s.Bound < 1 || s.MaxOverMean < s.Bound-1e-9 || s.Expected < 1 {
			t.Errorf("sample %+v", s)
		}
	}
	again, err := sim.Run(cluster(t))
	if err != nil || !reflect.DeepEqual(r, again) {
		t.Errorf("the same configuration ran in another way: %v", err)
	}
}

// noting records for how long topics were sampled.
type noting struct {
	balance.Strategy
	sampled *time.Duration
}

func (n noting) Iterate(in balance.Input) (balance.Proposal, error) {
	*n.sampled = in.Sampled
	return n.Strategy.Iterate(in)
}

// TestTopicsAreSpread tests the whole way from samples on slaves to groups that move
// because of their topics, in a simulated cluster whose slaves report, move and switch
// like real ones.
func TestTopicsAreSpread(t *testing.T) {
	var sampled time.Duration
	slowest := func(name string) (late float64) {
		s, err := strategy.Named(name)
		if err != nil {
			t.Fatal(err)
		}
		cfg := cluster(t)
		cfg.Strategy, cfg.Order, cfg.Duration, cfg.Sample = noting{s, &sampled}, balance.ByHash, 60*time.Second, time.Second
		cfg.Mapper.Interval = 2 * time.Second
		topics := sim.Topics{Rate: 200, Seed: 3}
		cfg.Items = nil
		for topic := range uint64(40) {
			var costs []sim.ItemCost
			for item := range uint64(10) {
				k, err := balance.ByHash.Key(1, 10*topic+item+1)
				if err != nil {
					t.Fatal(err)
				}
				cfg.Items = append(cfg.Items, sim.Item{Key: k, Weight: 10})
				costs = append(costs, sim.ItemCost{Key: k, Micros: 50})
			}
			topics.Costs = append(topics.Costs, costs)
		}
		cfg.Trace = topics.Trace(cfg.Duration)
		r, err := sim.Run(cfg)
		if err != nil {
			t.Fatal(err)
		}
		if r.Complete != r.Queries || r.Missed+r.Doubled > 0 {
			t.Errorf("%s: %d of %d queries are complete, %d items missed, %d doubled", name, r.Complete, r.Queries, r.Missed, r.Doubled)
		}
		for _, v := range r.Samples[len(r.Samples)-10:] {
			late += v.Expected / 10
		}
		return late
	}
	before, after := slowest("weighted-move-fast"), slowest("topics")
	t.Logf("slowest slave of a query ÷ its bound: %.3f by load alone, %.3f with topics", before, after)
	if after-1 > 0.5*(before-1) {
		t.Error("topics are not spread")
	}
	if sampled < 50*time.Second || sampled > 60*time.Second {
		t.Errorf("topics were sampled for %v of a minute, as the strategy sees it", sampled)
	}
}

func TestConfigIsChecked(t *testing.T) {
	if _, err := sim.Run(sim.Config{}); err == nil {
		t.Error("a run without a strategy")
	}
	cfg := cluster(t)
	cfg.Items = append(cfg.Items, cfg.Items[0])
	if _, err := sim.Run(cfg); err == nil {
		t.Error("a key stands twice")
	}
}
