package load

import (
	"testing"

	"adshard/barrels/certify"
)

// TestHeavy: the most expensive of many keys are found, in bounded memory, and
// never overestimated.
func TestHeavy(t *testing.T) {
	var h heavyHitters
	want := map[uint64]uint64{}
	for i := range uint64(200_000) {
		of := certify.Mix(i) // seen once
		if i%4 == 0 {
			of = certify.Mix(i) % 50 // seen often
		}
		h.add(of, cost{examined: 1 + of%7})
		want[of] += 1 + of%7
	}
	if h.used > maxHitters {
		t.Fatalf("%d things", h.used)
	}
	for i, e := range h.most(50) {
		if e.of >= 50 || e.examined > want[e.of] || e.examined < want[e.of]*9/10 {
			t.Fatalf("place %d: %d with %d of %d", i, e.of, e.examined, want[e.of])
		}
	}
}
