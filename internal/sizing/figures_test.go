package sizing

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"adshard/fault"
)

func TestReadRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"":             "not figures of `adbench sizing`",
		`{"query": 1}`: "unknown field",
		`{}`:           "query_us is 0",
		`{"query_us":1,"searches":[{"keywords":2},{"keywords":1}]}`: "keywords do not rise",
		`{"alone":{"p50_us":2,"p90_us":1}}`:                         "the quantiles do not rise",
	} {
		if _, err := Read(strings.NewReader(text)); !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// TestMeasuredPointsAreKept checks that interpolation passes through the measured points, and stays between the two
// neighbouring ones.
func TestMeasuredPointsAreKept(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	for range 100 {
		f := randomFigures(r)
		for i := range f.Searches {
			s := &f.Searches[i]
			if got := f.Search(s.Keywords); i == 0 && got != s.Times || got.Mean < s.Mean*(1-1e-9) {
				t.Fatalf("%g keywords: %+v, measured %+v", s.Keywords, got, s.Times)
			}
		}
		for i, share := range above {
			if got, want := f.Alone.exceeded(share), f.Alone.quantiles()[i]; math.Abs(got/want-1) > 1e-9 {
				t.Fatalf("a share of %g: %g, measured %g", share, got, want)
			}
		}
		last := math.Inf(1)
		for bytes := 30.0; bytes < 300; bytes++ {
			m := f.withBytes(bytes).Mean
			if m > f.Memory[0].Mean+f.Memory[1].Mean+f.Memory[2].Mean+f.Memory[3].Mean || m <= 0 {
				t.Fatalf("%g bytes: %g", bytes, m)
			}
			last = min(last, m)
		}
		if got := f.withBytes(250); got != f.Memory[3].Times {
			t.Fatalf("all in memory: %+v", got)
		}
	}
}

// TestLessMemoryIsNeverFaster checks this for random measurements.
func TestLessMemoryIsNeverFaster(t *testing.T) {
	r := rand.New(rand.NewPCG(15, 16))
	for range 100 {
		f := randomFigures(r)
		full := f.search(1e6, 250)
		for _, bytes := range []float64{30, 45, 60, 100, 200} {
			got := f.search(1e6, bytes)
			for i, q := range got.quantiles() {
				if q < full.quantiles()[i]*(1-1e-9) {
					t.Fatalf("%g bytes: %+v, with all in memory %+v", bytes, got, full)
				}
			}
		}
	}
}
