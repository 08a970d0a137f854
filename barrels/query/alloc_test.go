//go:build !race

package query_test

import (
	"testing"

	"adshard/barrels/barreltest"
	"adshard/search"
)

// TestSearchAllocatesItsAnswerOnly: once everything is cached, a search
// allocates only its answer.
func TestSearchAllocatesItsAnswerOnly(t *testing.T) {
	s := opened(t)
	if err := s.Apply(t.Context(), barreltest.NewBuilder(t, barreltest.Small(300, "usb cable", "usb hub", "cheap usb cable")).All()); err != nil {
		t.Fatal(err)
	}
	s.CountLoad(0)
	q, err := search.Expand("cheap usb cable", search.Synonym, nil)
	if err != nil {
		t.Fatal(err)
	}
	r := &search.Request{Query: q, Profile: search.DefaultProfile(), Slots: 4}
	for _, exact := range []bool{false, true} {
		r.ExactCounts = exact
		run := func() {
			if a, err := s.Search(t.Context(), r); err != nil || len(a.Hits) != 5 {
				t.Fatalf("%+v, %v", a, err)
			}
		}
		run()
		// The answer and its hits. Garbage collections may empty the pool from time
		// to time.
		if n := testing.AllocsPerRun(1000, run); n >= 3 {
			t.Errorf("exact counts: %t: %v allocations a search", exact, n)
		}
	}
}
