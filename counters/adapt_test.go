package counters

import (
	"math"
	"testing"
)

// played plays windows and returns the resulting number of shards, and the number of windows
// after which it changed last.
func played(p *pace, r Rule, shards, windows int, of func(shards int) load) (now, last int) {
	for i := range windows {
		next := p.next(&r, shards, of(shards))
		if next != shards {
			last = i + 1
		}
		shards = next
	}
	return shards, last
}

// offered returns a function that makes windows of updates at a rate, for a given number of
// shards. An update takes 75 ms between its read and its put. The share of conflicts is 1 -
// exp(-load of a shard).
func offered(rate float64) func(int) load {
	var updates, conflicts float64 // windows get whole numbers of these
	return func(shards int) load {
		share := shareOf(rate, shards)
		updates, conflicts = updates+rate, conflicts+rate/(1-share)*share
		u, c := math.Floor(updates), math.Floor(conflicts)
		updates, conflicts = updates-u, conflicts-c
		return load{uint64(u + c), uint64(c)}
	}
}

func shareOf(rate float64, shards int) float64 {
	return min(0.99, 1-math.Exp(-rate*0.075/float64(shards))) // after a failure it tries again, but not at once
}

// TestRule tests that, from any number of shards, the rule reaches a number with which at most
// Grow of the puts conflict, and then rests.
func TestRule(t *testing.T) {
	papers := DefaultRule() // double after two windows, as a first guess had it
	papers.Least, papers.Step, papers.GrowAfter = 1, 2, 2
	for name, r := range map[string]Rule{"default": DefaultRule(), "doubling": papers} {
		for _, rate := range []float64{0, 5, 40, 75, 300, 1000} {
			for _, from := range []int{1, 8, 256} {
				shards, last := played(new(pace), r, from, 2000, offered(rate))
				share := shareOf(rate, shards)
				if share > r.Grow && shards < r.Most || last > 1500 {
					t.Errorf("%s, %v/s from %d shards: %d after %d windows, with %.3f conflicts", name, rate, from, shards, last, share)
				}
				if shards > r.Least && shareOf(rate, shards/2) < r.Shrink {
					t.Errorf("%s, %v/s from %d shards: %d shards are too many", name, rate, from, shards)
				}
			}
		}
	}
}

// TestRuleSteps tests how fast the number of shards follows, and what it ignores.
func TestRuleSteps(t *testing.T) {
	r := DefaultRule()
	if n, last := played(new(pace), r, 1, 10, offered(75)); n < 64 || last > 2 {
		t.Errorf("75/s: %d shards after %d windows", n, last)
	}
	if n, _ := played(new(pace), r, 16, 9, offered(0)); n != 16 {
		t.Errorf("%d shards after nine idle windows", n)
	}
	if n, _ := played(new(pace), r, 16, 10, offered(0)); n != 8 {
		t.Errorf("%d shards after ten idle windows", n)
	}
	first := load{5, 1} // always too few to judge by
	if n, _ := played(new(pace), r, 16, 11, func(int) load { now := first; first = load{}; return now }); n != 8 {
		t.Errorf("%d shards after a few puts and ten idle windows", n)
	}
	// A window with few puts says nothing by itself; several such windows together do.
	few := func(int) load { return load{5, 4} }
	if n, last := played(new(pace), r, 1, 4, few); n == 1 || last != 4 {
		t.Errorf("five puts a window: %d shards after %d windows", n, last)
	}
	r.Most = 4
	if n, _ := played(new(pace), r, 1, 50, func(int) load { return load{100, 99} }); n != 4 {
		t.Errorf("%d shards, more than the most", n)
	}
	r.GrowAfter = 2
	calm := 0
	alternating := func(int) load { calm++; return load{100, uint64(calm%2) * 50} }
	if n, _ := played(new(pace), r, 1, 9, alternating); n != 1 {
		t.Errorf("%d shards, though no two windows in a row were hot", n)
	}
}
