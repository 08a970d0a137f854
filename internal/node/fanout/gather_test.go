package fanout

import (
	"errors"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"adshard/fault"
	"adshard/search"
)

var (
	stale      = fault.Newf(fault.Stale, "slave", "view 1 is over")
	overloaded = fault.Newf(fault.Overloaded, "slave", "busy")
)

func shards(names ...string) (list []Shard) {
	for _, n := range names {
		list = append(list, Shard{Name: n})
	}
	return list
}

// unanswered names the shards without an answer.
func unanswered(g *Gather[search.Answer]) (list []string) {
	for i, a := range g.answers {
		if a == nil {
			list = append(list, g.shards[i].Name)
		}
	}
	return list
}

func TestGather(t *testing.T) {
	type event struct {
		shard int
		err   error // nil: answered
	}
	const late = -1
	for name, c := range map[string]struct {
		events  []event
		want    []Step
		missing []string
		err     fault.Kind // Internal: none
	}{
		"all answer": {[]event{{2, nil}, {0, nil}, {1, nil}}, []Step{Wait, Wait, Enough}, nil, 0},
		"one fails":  {[]event{{1, errors.New("x")}, {0, nil}, {2, nil}}, []Step{Wait, Wait, Enough}, []string{"b"}, 0},
		"too late":   {[]event{{1, nil}, {late, nil}}, []Step{Wait, Enough}, []string{"a", "c"}, 0},
		"nothing counts after it is over": {[]event{{late, nil}, {0, nil}, {1, errors.New("x")}},
			[]Step{Enough, Enough, Enough}, []string{"a", "b", "c"}, 0},
		"twice counts once": {[]event{{1, nil}, {1, nil}, {1, errors.New("x")}}, []Step{Wait, Wait, Wait}, []string{"a", "c"}, 0},
		"stale once is again, twice is failed": {[]event{{0, stale}, {1, stale}, {2, nil}},
			[]Step{Again, Wait, Enough}, []string{"a", "b"}, 0},
		"all refuse": {[]event{{0, overloaded}, {1, overloaded}, {2, overloaded}},
			[]Step{Wait, Wait, Enough}, []string{"a", "b", "c"}, fault.Overloaded},
		"one refuses": {[]event{{0, overloaded}, {1, nil}, {2, nil}}, []Step{Wait, Wait, Enough}, []string{"a"}, 0},
		"all fail, not all refuse": {[]event{{0, overloaded}, {1, stale}, {2, overloaded}},
			[]Step{Wait, Again, Enough}, []string{"a", "b", "c"}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			var g Gather[search.Answer]
			g.Begin(shards("a", "b", "c"))
			for i, e := range c.events {
				var got Step
				switch {
				case e.shard == late:
					got = g.TooLate()
				case e.err != nil:
					got = g.Failed(e.shard, e.err)
				default:
					got = g.Answered(e.shard, &search.Answer{})
				}
				if got != c.want[i] {
					t.Fatalf("event %d: step %d, want %d", i, got, c.want[i])
				}
			}
			if got := unanswered(&g); !slices.Equal(got, c.missing) {
				t.Errorf("missing %v, want %v", got, c.missing)
			}
			if err := g.Err(); fault.KindOf(err) != c.err {
				t.Errorf("error %v, want kind %s", err, c.err)
			}
		})
	}
}

// TestGatherEnds: whatever comes in whatever order, when all shards have
// answered or failed it is enough, and each shard is answered or missing.
func TestGatherEnds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 6).Draw(t, "shards")
		var g Gather[search.Answer]
		g.Begin(make([]Shard, n))
		order := rapid.Permutation(slices.Collect(func(yield func(int) bool) {
			for i := range n {
				if !yield(i) {
					return
				}
			}
		})).Draw(t, "order")
		answered, again := 0, 0
		for at, i := range order {
			var step Step
			switch rapid.IntRange(0, 2).Draw(t, "event") {
			case 0:
				step = g.Answered(i, &search.Answer{})
				answered++
			case 1:
				step = g.Failed(i, stale)
			default:
				step = g.Failed(i, overloaded)
			}
			if step == Again {
				again++
				step = g.step()
			}
			if (step == Enough) != (at == n-1) {
				t.Fatalf("step %d after %d of %d", step, at+1, n)
			}
		}
		if again > 1 || len(unanswered(&g)) != n-answered {
			t.Fatalf("again %d times, %d missing, %d of %d answered", again, len(unanswered(&g)), answered, n)
		}
	})
}
