package balance_test

import (
	"testing"
	"time"

	"adshard/balance"
)

// TestDrainWithoutIterations: nodes are emptied at a pace of their own, and at
// once again when nothing is on its way, however rarely the strategy is asked.
func TestDrainWithoutIterations(t *testing.T) {
	for name, interval := range map[string]time.Duration{"none": 0, "rare": 24 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, 9, func(c *balance.MapperConfig) {
				c.Interval, c.Budget = interval, balance.Budget{Share: 0.01} // less than a slice
			}, "a", "b", "c")
			r.pass(time.Second)
			r.must(r.m.Drain(r.now, "b"))
			begin := r.now
			for n, _ := r.m.Model().Named("b"); n.State != balance.Drained; n, _ = r.m.Model().Named("b") {
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
			if took := r.now - begin; took > 30*time.Second { // three slices, each lingers for 5 s
				t.Errorf("it took %v", took)
			}
			if n := r.m.Status(r.now).Iterations; interval == 0 && n > 0 {
				t.Errorf("the strategy was asked %d times", n)
			}
		})
	}
}
