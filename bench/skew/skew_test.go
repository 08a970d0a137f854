package skew

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestDraws: numbers are drawn as often as the distribution says, and its
// probabilities sum to 1.
func TestDraws(t *testing.T) {
	for name, d := range map[string]*Distribution{
		"uniform": Zipf(50, 0), "Zipf": Zipf(50, 0.99), "steep": Zipf(50, 2), "Poisson": Poisson(50, 20),
	} {
		const draws = 200_000
		counts, sum := make([]int, d.Len()), 0.0
		r := rand.New(rand.NewPCG(1, 1))
		for range draws {
			counts[d.Draw(r)]++
		}
		for i, n := range counts {
			sum += d.Of(i)
			if want := d.Of(i) * draws; math.Abs(float64(n)-want) > 5*math.Sqrt(want)+5 {
				t.Errorf("%s: %d was drawn %d times, want about %.0f", name, i, n, want)
			}
		}
		if math.Abs(sum-1) > 1e-9 || d.At(1) != d.Len()-1 || d.At(0) != 0 {
			t.Errorf("%s: sum %v", name, sum)
		}
	}
	if d := Zipf(4, 1); math.Abs(d.Of(0)/d.Of(3)-4) > 1e-9 {
		t.Errorf("%v and %v", d.Of(0), d.Of(3))
	}
	if d := Poisson(100, 20); d.Of(20) < d.Of(10) || d.Of(20) < d.Of(30) {
		t.Error("the mean of Poisson is not its middle")
	}
}
