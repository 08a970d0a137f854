package auction_test

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"adshard/auction"
)

// TestScored checks serving.md §16 with unlimited numbers.
func TestScored(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b, q := rapid.Uint64Range(0, 100_000_000_000).Draw(t, "B"), rapid.Uint64Range(0, auction.MaxQuality).Draw(t, "Q")
		f := rapid.OneOf(rapid.Uint64Range(0, auction.MaxFactor), rapid.SampledFrom([]uint64{0, 1, 999, 1000, 1001, auction.MaxFactor})).Draw(t, "f")
		scored, score := auction.Scored(b, q, f)
		want := new(big.Int).Mul(new(big.Int).SetUint64(q), new(big.Int).SetUint64(f))
		want.Div(want, big.NewInt(1000))
		if scored != want.Uint64() || want.Mul(want, new(big.Int).SetUint64(b)).Cmp(new(big.Int).SetUint64(score)) != 0 || score > math.MaxInt64 {
			t.Fatalf("got Q′ %d and R′ %d, want R′ %v", scored, score, want)
		}
	})
}

// TestBoundsOfScores: no factor up to the bound raises a score above MostScored or raises one below LeastUnscored to need.
// LeastUnscored itself may become need.
func TestBoundsOfScores(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b, q := rapid.Uint64Range(1, 100_000_000_000).Draw(t, "B"), rapid.Uint64Range(1, auction.MaxQuality).Draw(t, "Q")
		most := rapid.Uint64Range(0, auction.MaxFactor).Draw(t, "most")
		_, score := auction.Scored(b, q, rapid.Uint64Range(0, most).Draw(t, "f"))
		if score > auction.MostScored(b*q, most) {
			t.Fatalf("%d became %d", b*q, score)
		}
		need := rapid.OneOf(rapid.Uint64Range(0, score+1), rapid.Uint64()).Draw(t, "need")
		least := auction.LeastUnscored(need, most)
		if b*q < least && score >= need && need > 0 {
			t.Fatalf("%d is below %d, and became %d, which reaches %d", b*q, least, score, need)
		}
		if most > 0 && least > 0 && least < math.MaxUint64 && auction.MostScored(least, most) < need {
			t.Fatalf("%d cannot become %d", least, need)
		}
	})
	if got := auction.LeastUnscored(10, 0); got != 10_000 {
		t.Errorf("%d", got)
	}
}
