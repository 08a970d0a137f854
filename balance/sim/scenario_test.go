package sim_test

import (
	"reflect"
	"testing"

	"adshard/balance/sim"
)

// TestScenarioIsText: a scenario that is printed and parsed is the same again.
func TestScenarioIsText(t *testing.T) {
	for seed := range uint64(200) {
		s := sim.Generate(seed)
		got, err := sim.ParseScenario(s.String())
		if err != nil || !reflect.DeepEqual(s, got) {
			t.Fatalf("seed %d: %v\n%s\nreads as\n%s", seed, err, s, got)
		}
	}
	for _, bad := range []string{"seed=x", "slaves=1 colour=red", "seed=1\nsoon crash s1", "seed=1\n1s", "seed=1\n1s crash s1 n=-1"} {
		if _, err := sim.ParseScenario(bad); err == nil {
			t.Errorf("%q reads", bad)
		}
	}
}

func TestShrinkFindsWhatMatters(t *testing.T) {
	s := sim.Generate(2)
	matters := func(s sim.Scenario) bool {
		n := 0
		for _, e := range s.Events {
			if e.Do == s.Events[0].Do {
				n++
			}
		}
		return len(s.Events) > 0 && n > 0
	}
	if got := sim.Shrink(s, func(s sim.Scenario) bool { return len(s.Events) > 0 && matters(s) }, 1000); len(got.Events) != 1 {
		t.Errorf("%d events are left, one would do", len(got.Events))
	}
}
