package counters

import (
	"math"
	"testing"
)

// played plays windows of one kind and returns the number of shards then, and after how
// many windows it changed last.
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

// offered makes a window of updates at a rate, each of which takes 75 ms between its read
// and its put, on a given number of shards: the part that conflicts is 1 - exp(-load of a shard).
func offered(rate float64) func(int) load {
	var updates, conflicts float64 // whole ones are taken
	return func(shards int) load {
		share := shareOf(rate, shards)
		updates, conflicts = updates+rate, conflicts+rate/(1-share)*share
		u, c := math.Floor(updates), math.Floor(conflicts)
		updates, conflicts = updates-u, conflicts-c
		return load{uint64(u + c), uint64(c)}
	}
}

func shareOf(rate float64, shards int) float64 {
	return min(0.99, 1-math.Exp(-rate*0.075/float64(shards))) // who fails tries again, not at once
}

// TestRule: from any number of shards the rule comes to one at which at most Grow of the
// puts conflict, and rests there.
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

// TestRuleSteps: how fast it follows, and what it takes no notice of.
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
	first := load{5, 1} // too few to judge by, ever
	if n, _ := played(new(pace), r, 16, 11, func(int) load { now := first; first = load{}; return now }); n != 8 {
		t.Errorf("%d shards after a few puts and ten idle windows", n)
	}
	// A window with few puts says nothing by itself; several do together.
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
