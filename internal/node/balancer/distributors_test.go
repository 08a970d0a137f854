package balancer

import (
	"fmt"
	"testing"
	"time"

	"adshard/fault"
)

func TestDistributorsShareTheSlaves(t *testing.T) {
	now := time.Now()
	s := make(distributors)
	if _, err := s.assigned("slave-0", now); !fault.Is(err, fault.Unavailable) {
		t.Fatalf("without a distributor: %v", err)
	}
	where := func() (out [100]string) {
		for i := range out {
			var err error
			if out[i], err = s.assigned(fmt.Sprint("slave-", i), now); err != nil {
				t.Fatal(err)
			}
		}
		return out
	}
	for i := range 3 {
		if err := s.note(fmt.Sprint("d", i), fmt.Sprint("d", i, ":1"), 5, now); err != nil {
			t.Fatal(err)
		}
	}
	before := where()
	counts := map[string]int{}
	for _, at := range before {
		counts[at]++
	}
	for at, n := range counts {
		if n < 15 {
			t.Errorf("%s has %d of 100 slaves", at, n)
		}
	}
	// One falls silent: only its slaves go elsewhere. It returns: they come back.
	now = now.Add(aliveTime)
	for _, i := range []int{0, 2} {
		if err := s.note(fmt.Sprint("d", i), fmt.Sprint("d", i, ":1"), 9, now); err != nil {
			t.Fatal(err)
		}
	}
	after := where()
	for i := range after {
		if after[i] == "d1:1" || before[i] != "d1:1" && before[i] != after[i] {
			t.Errorf("slave %d went from %s to %s", i, before[i], after[i])
		}
	}
	if got := s.leastClock(100, now); got != 9 {
		t.Errorf("least clock %d", got)
	}
	if err := s.note("d0", "elsewhere:1", 0, now); !fault.Is(err, fault.Conflict) {
		t.Errorf("a second d0: %v", err)
	}
	if err := s.note("d1", "elsewhere:1", 0, now); err != nil {
		t.Errorf("d1 at another place: %v", err)
	}
}
