package measure

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// TestLinear: the unknowns from which observations were made are found again.
func TestLinear(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var want [3]float64
		for i := range want {
			want[i] = rapid.Float64Range(0.1, 100).Draw(t, "unknown")
		}
		var s Linear
		for i := range 30 {
			x := [3]float64{1, float64(i * i), float64(i % 7)}
			s.Add(x, want[0]*x[0]+want[1]*x[1]+want[2]*x[2])
		}
		got, ok := s.Solve()
		for i := range want {
			if !ok || math.Abs(got[i]-want[i]) > 1e-6*want[i] {
				t.Fatalf("%v, want %v", got, want)
			}
		}
	})
	var alike Linear
	for range 5 {
		alike.Add([3]float64{1, 5, 5}, 3)
	}
	if x, ok := alike.Solve(); ok {
		t.Errorf("observations that are alike gave %v", x)
	}
}
