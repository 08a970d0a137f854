package mapper_test

import (
	"slices"
	"testing"
	"time"

	"adshard/balance"
	"adshard/balance/cluster"
)

// TestDrainWithoutIterations: slaves are emptied at their own pace, and the next step follows
// at once when nothing is moving, however rarely the strategy is asked.
func TestDrainWithoutIterations(t *testing.T) {
	for name, interval := range map[string]time.Duration{"none": 0, "rare": 24 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, 9, func(c *cluster.Config) {
				c.Interval, c.Budget = interval, balance.Budget{Share: 0.01} // less than one slice
			}, "a", "b", "c")
			r.pass(time.Second)
			r.must(r.m.Drain(r.now, "b"))
			begin := r.now
			for sh, _ := r.m.Model().Named("b"); sh.State != balance.Drained; sh, _ = r.m.Model().Named("b") {
				r.pass(200 * time.Millisecond)
				r.ackAll()
				for _, q := range r.asked {
					r.asked = []balance.Certify{q}
					r.answer(nil)
				}
				if r.now > begin+time.Minute {
					t.Fatalf("%+v", r.m.Status(r.now))
				}
			}
			if took := r.now - begin; took > 30*time.Second { // three slices, each of which lingers for 5 s
				t.Errorf("it took %v", took)
			}
			if n := r.m.Status(r.now).Iterations; interval == 0 && n > 0 {
				t.Errorf("the strategy was asked %d times", n)
			}
		})
	}
}

// TestStepsAreMarked: iterations, commands and failures are each logged in a line; steps of
// moves and views are marked.
func TestStepsAreMarked(t *testing.T) {
	r, w := newWants(t, nil, "a", "b", "c")
	e := r.m.Model().Edit()
	half, err := e.Split(r.slice(0).ID, r.slice(0).Hi/2)
	r.must(err)
	r.must(e.Start(half, 2))
	w.ops = e.Ops()
	r.loud = nil
	r.pass(rigInterval)
	r.must(r.m.Move(r.now, r.slice(2).ID, "a"))
	r.through()
	r.must(r.m.Drain(r.now, "c"))
	r.through()
	want := []string{
		"wants begins 1 move of 16 ad groups, 1 split: all is well",
		"slice 2: begins to move from b to a: by command",
		"c: shard 3 is draining",
		"c: 2 slices to leave: shard c is being emptied",
		"c: shard 3 is drained",
	}
	if !slices.Equal(r.loud, want) {
		t.Errorf("%q", r.loud)
	}
}
