package block

import (
	"math/bits"
	"testing"

	"pgregory.net/rapid"

	"adshard/auction"
	"adshard/search"
	"adshard/targeting"
)

// TestThreshold: a block with a bound below the threshold cannot reach the score; except for
// the largest numbers, the converse is true as well.
func TestThreshold(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		number := rapid.OneOf(rapid.Uint64(), rapid.Uint64Range(0, 5000), rapid.Just(^uint64(0)))
		b := Bound{Own: number.Draw(t, "own"), Inherited: number.Draw(t, "inherited")}
		need := number.Draw(t, "need")
		largest := rapid.Uint64Range(1000, 10_000).Draw(t, "largest")
		level := rapid.SampledFrom([]search.Level{search.Identical, search.Synonym, search.Misspelt}).Draw(t, "level")
		if got, want := NewThreshold(need, 0, level).Reached(b.Reach(largest, 1000)), b.At(largest, level) >= need; got != want && (want || need < 1<<53) {
			t.Fatalf("%+v for %d at %v, largest modifier %d: wins %v, its bound is %d", b, need, level, largest, got, b.At(largest, level))
		}
	})
}

// TestFactors: a block with a posting that reaches a score is never skipped, whatever targeting
// multiplies its bid by.
func TestFactors(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		permille := func(name string, most int) uint64 { return uint64(rapid.IntRange(100, most).Draw(t, name)) }
		bid := rapid.OneOf(rapid.Uint64Range(0, 3000), rapid.Uint64Range(0, auction.MaxBid)).Draw(t, "bid")
		quality, kind := rapid.Uint8Range(1, 10).Draw(t, "quality"), rapid.Uint8Range(0, search.MatchTypes-1).Draw(t, "type")
		campaign, largest := permille("campaign", 10_000), permille("largest", 10_000)
		device, modifier := min(campaign, largest), uint16(NotSet)
		if rapid.Bool().Draw(t, "own") {
			device = uint64(rapid.IntRange(0, 10_000).Draw(t, "modifier"))
			modifier = uint16(device)
		}
		factors := targeting.Factors{Schedule: uint16(permille("schedule", 10_000)), Location: uint16(permille("location", 2000)), Audience: 1000, Site: 1000}
		most := (uint64(factors.Schedule)*uint64(factors.Location) + 999) / 1000
		own := uint64(0)
		if rapid.Bool().Draw(t, "group's") {
			factors.Audience = uint16(permille("audience", 10_000))
			own = GroupFactor(FactorFlags(uint64(factors.Audience)))
		}
		var b bounds
		b.add(bid, quality, kind, &[search.Devices]uint16{modifier, modifier, modifier}, own)
		level := rapid.SampledFrom([]search.Level{search.Identical, search.Folded, search.Synonym, search.Misspelt}).Draw(t, "level")
		_, _, score := auction.Rank(bid, factors.Apply(device), uint64(quality), search.MatchType(kind).Permille(), level.Permille())
		need := rapid.Uint64Range(0, score).Draw(t, "need")
		if !NewThreshold(need, 0, level).Reached(b[search.Desktop].Reach(max(largest, 1000), max(most, 1000))) {
			t.Fatalf("a score of %d is skipped where %d is needed", score, need)
		}
	})
}

// At returns an upper bound of the scores R if no campaign's modifier on the device is above
// maxModifier (permille) and no entry matches better than at level. It rounds up and keeps
// products in 128 bits; a result that does not fit 64 bits is their maximum.
func (b Bound) At(maxModifier uint64, level search.Level) uint64 {
	r := max(b.Own, mulDivUp(b.Inherited, maxModifier, 1000))
	return mulDivUp(r, level.Permille(), 1000)
}

// mulDivUp returns ceil(a × b ÷ c), or the largest number if that is less.
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
