package auction_test

import (
	"fmt"
	"math"
	"math/big"
	"strings"
	"testing"

	"github.com/cespare/xxhash/v2"
	"pgregory.net/rapid"

	"adshard/auction"
)

// TestTakesPartFrom: with a share one millionth below the drawn number a campaign is out, with one
// millionth above it is in. The wanted values come from a second implementation of xxh64, written
// from its specification.
func TestTakesPartFrom(t *testing.T) {
	for _, c := range []struct {
		request  string
		campaign uint64
		drawn    uint32
	}{
		{"abc", 7, 960_828},
		{"abc", 8, 150_734},
		{"abd", 7, 56_304},
		{"a/1", 2, 739_312},
		{"request-1", math.MaxUint64, 338_400},
		{strings.Repeat("r", 64), 12, 722_461},
		{"~", 1, 817_171},
	} {
		if auction.TakesPart(c.request, c.campaign, auction.Whole-c.drawn) {
			t.Errorf("%q %d takes part with a share of %d", c.request, c.campaign, c.drawn)
		}
		if !auction.TakesPart(c.request, c.campaign, auction.Whole-c.drawn-1) {
			t.Errorf("%q %d takes no part with a share of %d", c.request, c.campaign, c.drawn+1)
		}
	}
}

func TestTakesPartIsTheOracles(t *testing.T) {
	million := big.NewInt(1_000_000)
	rapid.Check(t, func(t *rapid.T) {
		request := rapid.StringMatching(`[ -~]{1,64}`).Draw(t, "request")
		campaign := rapid.Uint64().Draw(t, "campaign")
		withheld := rapid.OneOf(rapid.Uint32Range(0, auction.Whole), rapid.Uint32Range(0, 2), rapid.Uint32()).Draw(t, "withheld")
		h := new(big.Int).SetUint64(xxhash.Sum64String(fmt.Sprintf("%s/%d", request, campaign)))
		drawn := h.Rsh(h.Mul(h, million), 64).Int64()
		if got, want := auction.TakesPart(request, campaign, withheld), drawn < 1_000_000-int64(withheld); got != want {
			t.Fatalf("%q %d with %d withheld: %v, drawn %d", request, campaign, withheld, got, drawn)
		}
		if !auction.TakesPart(request, campaign, 0) || auction.TakesPart(request, campaign, auction.Whole) {
			t.Fatalf("%q %d: a whole share is not in, or none at all is", request, campaign)
		}
	})
}

// TestSharesAreTaken: over many requests each campaign takes part as often as its share says,
// whatever other campaigns do.
func TestSharesAreTaken(t *testing.T) {
	const n = 100_000
	in, both := [2]int{}, 0
	for i := range n {
		request := fmt.Sprint("r", i)
		a, b := auction.TakesPart(request, 1, 750_000), auction.TakesPart(request, 2, 400_000)
		for j, part := range []bool{a, b} {
			if part {
				in[j]++
			}
		}
		if a && b {
			both++
		}
	}
	for _, c := range []struct {
		got  int
		want float64
	}{{in[0], 0.25}, {in[1], 0.6}, {both, 0.15}} {
		deviation := 4 * math.Sqrt(c.want*(1-c.want)/n)
		if got := float64(c.got) / n; math.Abs(got-c.want) > deviation {
			t.Errorf("in %.4f of the requests, want %.4f", got, c.want)
		}
	}
}

func BenchmarkTakesPart(b *testing.B) {
	b.ReportAllocs()
	for i := range uint64(b.N) {
		auction.TakesPart("4TQ2N5J7QK6Y7B3V5M2XZ6A1CD", i, 500_000)
	}
}
