package quality_test

import (
	"testing"

	"pgregory.net/rapid"

	"adshard/auction"
	"adshard/quality"
)

func TestScaleTable(t *testing.T) {
	rates := make([]float64, 101)
	for i := range rates {
		rates[len(rates)-1-i] = float64(i) / 1000
	}
	s := quality.ScaleOf(rates)
	if !near(float64(s), 0.0095, 1e-12) {
		t.Fatalf("a point is %v", s)
	}
	for _, c := range []struct {
		rate    float64
		present uint8
		want    uint8
	}{
		{0, 0, 1},
		{0.0095, 0, 1},
		{0.05, 0, 5},
		{0.095, 0, 10},
		{1, 0, 10},
		{0.05, 6, 6}, // 5.26
		{0.05, 7, 5},
		{0, 1, 1},
		{1, 9, 10},
	} {
		if got := quality.Quality(s.Points(c.rate), c.present); got != c.want {
			t.Errorf("%+v: %d", c, got)
		}
	}
	if got := quality.Quality(quality.ScaleOf(nil).Points(quality.DefaultPrior), 0); got != 5 {
		t.Errorf("without rates the default has quality %d", got)
	}
}

// TestScaleOfFew: of a few keywords with different rates only one has the highest quality, not all.
func TestScaleOfFew(t *testing.T) {
	for n := 2; n <= 20; n++ {
		rates := make([]float64, n)
		for i := range rates {
			rates[i] = 1 / float64(int(1)<<i) // each half of the previous one
		}
		s, highest := quality.ScaleOf(rates), 0
		for _, r := range rates {
			if quality.Quality(s.Points(r), 0) == 10 {
				highest++
			}
		}
		if highest > 1+n/10 {
			t.Errorf("%d of %d keywords have the highest quality", highest, n)
		}
	}
}

// TestAuctionRanksByExpectedValue: with learned qualities the auction's score is bid × click rate,
// as precisely as ten steps allow, whatever the match type.
func TestAuctionRanksByExpectedValue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := quality.Scale(rapid.Float64Range(0.001, 0.05).Draw(t, "scale"))
		match := rapid.SampledFrom([]uint64{1000, 900, 800}).Draw(t, "match factor")
		points := rapid.Float64Range(1, 10).Draw(t, "points")
		q := auction.Quality(uint64(quality.Quality(s.Points(points*float64(s)), 0)), match, 1000)
		rate := points * float64(s) * float64(match) / 1000 // of clicks at the top
		// Q of one point is 100,000, so Q ÷ 100,000 × scale gives the rate again.
		if back := float64(q) / 100_000 * float64(s); back > rate*1.5 || back < rate*0.66 {
			t.Fatalf("a rate of %v is ranked as %v", rate, back)
		}
	})
}
