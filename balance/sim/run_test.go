package sim_test

import (
	"reflect"
	"testing"
	"time"

	"adshard/balance"
	"adshard/balance/sim"
	"adshard/balance/strategy"
)

// cluster has four slaves with 400 items and a skewed load.
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
	if len(r.Samples) != 20 || len(r.Nodes) != 4 {
		t.Fatalf("%d samples of %d nodes", len(r.Samples), len(r.Nodes))
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
