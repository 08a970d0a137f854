package search

import (
	"testing"
	"time"
)

// TestTiming: stages follow each other. A nil Timing records nothing and costs nothing.
func TestTiming(t *testing.T) {
	timing := new(Timing)
	began := timing.Begin()
	next := timing.End("one", began)
	timing.End("two", next)
	timing.Add(Part{Name: "shard-0", Replica: "slave-0", Began: began, Took: time.Second})
	p := timing.Parts()
	if len(p) != 3 || p[0].Name != "one" || p[1].Name != "two" || p[2].Took != time.Second || !p[0].Began.Add(p[0].Took).Equal(p[1].Began) {
		t.Errorf("%+v", p)
	}
	var none *Timing
	if n := testing.AllocsPerRun(100, func() {
		began := none.End("one", none.Begin())
		none.Add(Part{Began: began})
	}); n > 0 || !none.Begin().IsZero() || none.Parts() != nil {
		t.Errorf("%v allocations of nobody's times", n)
	}
}
