package auction_test

import (
	"math"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"adshard/auction"
)

// bigRank is Rank with unlimited numbers, as the specification words it.
func bigRank(bid, modifier, quality, match, variant uint64) (b, q, r *big.Int) {
	n := func(x uint64) *big.Int { return new(big.Int).SetUint64(x) }
	b = new(big.Int).Mul(n(bid), n(modifier))
	b.Div(b, n(1000))
	q = new(big.Int).Mul(n(quality), n(100_000))
	q.Mul(q, n(match)).Mul(q, n(variant)).Div(q, n(1_000_000))
	return b, q, new(big.Int).Mul(b, q)
}

func TestRankWithinLimits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		bid := rapid.Uint64Range(0, auction.MaxBid).Draw(t, "bid")
		modifier := rapid.Uint64Range(0, auction.MaxModifier).Draw(t, "modifier")
		quality := rapid.Uint64Range(1, 10).Draw(t, "quality")
		match := rapid.SampledFrom([]uint64{1000, 900, 800}).Draw(t, "match")
		variant := rapid.SampledFrom([]uint64{1000, 950, 900, 800}).Draw(t, "variant")
		b, q, r := auction.Rank(bid, modifier, quality, match, variant)
		wb, wq, wr := bigRank(bid, modifier, quality, match, variant)
		if wb.Uint64() != b || wq.Uint64() != q || !wr.IsUint64() || wr.Uint64() != r {
			t.Fatalf("got %d %d %d, want %v %v %v", b, q, r, wb, wq, wr)
		}
		if q > auction.MaxQuality || r > math.MaxInt64 {
			t.Fatalf("Q %d or R %d is beyond its limit", q, r)
		}
	})
}

func TestRankSaturates(t *testing.T) {
	b, q, r := auction.Rank(math.MaxUint64, 10_000, math.MaxUint64, 1000, 1000)
	if b != math.MaxUint64 || q != math.MaxUint64 || r != math.MaxUint64 {
		t.Fatalf("got %d %d %d, want the largest numbers", b, q, r)
	}
}

func TestRankTable(t *testing.T) {
	for _, c := range []struct{ bid, modifier, quality, match, variant, b, q uint64 }{
		{1_000_000, 1000, 5, 1000, 1000, 1_000_000, 500_000},
		{1_000_001, 999, 1, 800, 800, 999_000, 64_000},
		{1, 999, 5, 900, 950, 0, 427_500},
		{10_000_000_000, 10_000, 10, 1000, 1000, 100_000_000_000, 1_000_000},
		{0, 1500, 7, 900, 900, 0, 567_000},
	} {
		b, q, r := auction.Rank(c.bid, c.modifier, c.quality, c.match, c.variant)
		if b != c.b || q != c.q || r != c.b*c.q {
			t.Errorf("%+v: got B %d Q %d R %d", c, b, q, r)
		}
	}
}

func TestModifier(t *testing.T) {
	for _, c := range []struct {
		group       uint64
		groupSet    bool
		campaign    uint64
		campaignSet bool
		want        uint64
		shown       bool
	}{
		{0, false, 0, false, 1000, true},
		{0, false, 1500, true, 1500, true},
		{1000, true, 1500, true, 1000, true}, // an explicit 0 % overrides the campaign's
		{500, true, 0, false, 500, true},
		{0, true, 1500, true, 0, false},    // −100 % on either side
		{1500, true, 0, true, 1500, false}, // the precedence stays the same
		{0, false, 0, true, 0, false},
	} {
		got, shown := auction.Modifier(c.group, c.groupSet, c.campaign, c.campaignSet)
		if got != c.want || shown != c.shown {
			t.Errorf("%+v: got %d %v", c, got, shown)
		}
	}
}

func TestPickAd(t *testing.T) {
	// The wanted values come from a second implementation of xxh64, written from its specification.
	for _, c := range []struct {
		request string
		group   uint64
		n, want int
	}{
		{"abc", 7, 1, 0},
		{"abc", 7, 2, 1},
		{"abc", 7, 3, 1},
		{"abc", 8, 3, 0},
		{"request-1", math.MaxUint64, 7, 4},
		{strings.Repeat("r", 64), 12, 1000, 875},
	} {
		if got := auction.PickAd(c.request, c.group, c.n); got != c.want {
			t.Errorf("%q %d of %d: got %d, want %d", c.request, c.group, c.n, got, c.want)
		}
	}
}

func BenchmarkRank(b *testing.B) {
	for i := range uint64(b.N) {
		auction.Rank(1_000_000+i, 1100, 7, 900, 950)
	}
}
