package block

import (
	"math/bits"
	"testing"

	"pgregory.net/rapid"

	"adshard/search"
)

// TestThreshold: a bound below a threshold is the bound of a block that cannot
// reach the score, and the other way round where numbers are far from the largest.
func TestThreshold(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		number := rapid.OneOf(rapid.Uint64(), rapid.Uint64Range(0, 5000), rapid.Just(^uint64(0)))
		b := Bound{Own: number.Draw(t, "own"), Inherited: number.Draw(t, "inherited")}
		need := number.Draw(t, "need")
		largest := rapid.Uint64Range(1000, 10_000).Draw(t, "largest")
		level := rapid.SampledFrom([]search.Level{search.Identical, search.Synonym}).Draw(t, "level")
		if got, want := NewThreshold(need, largest, level).Reached(b), b.At(largest, level) >= need; got != want && (want || need < 1<<53) {
			t.Fatalf("%+v for %d at %v, largest modifier %d: wins %v, its bound is %d", b, need, level, largest, got, b.At(largest, level))
		}
	})
}

// At returns an upper bound of the scores R when no campaign's modifier on the
// device is above maxModifier (permille) and no entry agrees better than at
// level. Each rounding is upwards, each product is kept in 128 bits; what does
// not fit 64 bits is their maximum.
func (b Bound) At(maxModifier uint64, level search.Level) uint64 {
	r := max(b.Own, mulDivUp(b.Inherited, maxModifier, 1000))
	return mulDivUp(r, level.Permille(), 1000)
}

// mulDivUp returns ceil(a × b ÷ c), at most the largest number.
func mulDivUp(a, b, c uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	lo, carry := bits.Add64(lo, c-1, 0)
	hi += carry
	if hi >= c {
		return ^uint64(0)
	}
	q, _ := bits.Div64(hi, lo, c)
	return q
}
