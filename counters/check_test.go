package counters_test

import (
	"errors"
	"maps"
	"slices"
	"testing"

	"adshard/counters"
	"adshard/fault"
)

// checked runs Check on a kind with this neutral value and fold.
func checked[V any](neutral V, fold func(a, b V) V, updates map[string]func(V) V, samples ...V) error {
	return counters.Check(counters.Kind[V]{Neutral: func() V { return neutral }, Fold: fold}, updates, samples...)
}

type hidden struct{ n int }

type mean struct{ Sum, N int }

// TestLaws tests that declarations that break a law are rejected with an equation that
// fails.
func TestLaws(t *testing.T) {
	add := func(a, b int) int { return a + b }
	inc := map[string]func(int) int{"inc": func(n int) int { return n + 1 }}
	for name, c := range map[string]struct {
		err  error
		says string
	}{
		"subtraction": {checked(0, func(a, b int) int { return a - b }, nil, 1, 2),
			"counters: it does not hold that the neutral value is neutral: fold(0, 1) = -1, but 1"},
		"the later one": {checked("", func(a, b string) string {
			if b == "" {
				return a
			}
			return b
		}, nil, "x", "y"), `counters: it does not hold that fold is commutative: fold("x", "y") = "y", but fold("y", "x") = "x"`},
		"appended": {checked(nil, func(a, b []int) []int { return append(a, b...) }, nil, []int{1}, []int{2}),
			"counters: it does not hold that fold is commutative: fold([1], [2]) = [1,2], but fold([2], [1]) = [2,1]"},
		"distance": {checked(0, func(a, b int) int { return max(a-b, b-a) }, nil, 1, 3, 4),
			"counters: it does not hold that fold is associative: fold(fold(1, 1), 3) = 3, but fold(1, fold(1, 3)) = 1"},
		"floats": {checked(0.0, func(a, b float64) float64 { return a + b }, nil, 0.1, 0.2, 0.3),
			"counters: it does not hold that fold is associative: fold(fold(0.1, 0.2), 0.3) = 0.6000000000000001, but fold(0.1, fold(0.2, 0.3)) = 0.6"},
		"neutral": {checked(1, add, inc), "counters: it does not hold that the neutral value is neutral: fold(1, 1) = 2, but 1"},
		"doubled": {checked(0, add, map[string]func(int) int{"double": func(n int) int { return 2 * n }}, 1, 2),
			"counters: it does not hold that an update of a part is an update of the whole: fold(double(0), 1) = 1, but double(fold(0, 1)) = 2"},
		"found by updates": {checked(0, func(a, b int) int { return a + b + a*a*b }, inc),
			"counters: it does not hold that fold is commutative: fold(1, 2) = 5, but fold(2, 1) = 7"},
		"not stored": {checked(hidden{}, func(a, b hidden) hidden { return hidden{a.n + b.n} }, nil, hidden{1}),
			"counters: it does not hold that values survive being stored: a value = {n:1}, but {} is read as {n:0}"},
	} {
		t.Run(name, func(t *testing.T) {
			var x *counters.Counterexample
			if !errors.As(c.err, &x) || c.err.Error() != c.says {
				t.Errorf("%v,\nwant %s", c.err, c.says)
			}
		})
	}
	for name, err := range map[string]error{
		"sum":  counters.Check(counters.Sum[int64](), map[string]func(int64) int64{"dec": func(n int64) int64 { return n - 1 }}, 1, -5, 1<<62),
		"max":  counters.Check(counters.Max(0), map[string]func(int) int{"see": func(n int) int { return max(n, 7) }}, 3, 9),
		"mean": checked(mean{}, func(a, b mean) mean { return mean{a.Sum + b.Sum, a.N + b.N} }, nil, mean{3, 1}, mean{5, 2}),
		"set": checked(map[string]bool{}, func(a, b map[string]bool) map[string]bool { maps.Copy(a, b); return a },
			map[string]func(map[string]bool) map[string]bool{"add": func(s map[string]bool) map[string]bool { s["x"] = true; return s }}, map[string]bool{"y": true}),
		"sorted": checked([]int{}, func(a, b []int) []int { a = append(a, b...); slices.Sort(a); return a }, nil, []int{2}, []int{1, 3}),
	} {
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestCheckRefuses tests that a kind that is incomplete or cannot be stored is invalid.
func TestCheckRefuses(t *testing.T) {
	for name, err := range map[string]error{
		"nothing": counters.Check(counters.Kind[int]{}, nil),
		"no JSON": checked[chan int](nil, func(a, b chan int) chan int { return a }, nil),
	} {
		if !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
