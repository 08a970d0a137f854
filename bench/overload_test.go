package bench

import (
	"testing"
	"time"

	"adshard/bench/openloop"
)

func TestScheduleOfAnOverload(t *testing.T) {
	f := overloadFlags{times: 5, peak: 200, before: 2 * time.Second, after: 2 * time.Second}
	f.Duration, f.Targets = 4*time.Second, make([]openloop.Target, 3)
	var counts [8]int
	last := time.Duration(0)
	for at, target := range f.schedule() {
		if at < last || target < 0 || target > 2 {
			t.Fatalf("target %d at %v, after %v", target, at, last)
		}
		last = at
		if at < 8*time.Second {
			counts[at/time.Second]++
		}
	}
	for s, want := range []int{100, 100, 1000, 1000, 1000, 1000, 100, 100} {
		if counts[s] < want*7/10 || counts[s] > want*13/10 {
			t.Errorf("%d requests in second %d, want about %d", counts[s], s, want)
		}
	}
}

func TestRecovery(t *testing.T) {
	good, bad := openloop.Interval{Answers: 100, InTime: 99}, openloop.Interval{Answers: 90, Failed: 10, InTime: 90}
	for want, list := range [][]openloop.Interval{{good, good}, {bad, good}, {good, bad, good}, {bad, bad, bad}} {
		if got := recovery(list); got != time.Duration(want)*time.Second {
			t.Errorf("%v after %v", got, list)
		}
	}
	if recovery(nil) != 0 {
		t.Error("nothing is to recover from")
	}
}
