package barrels

import (
	"testing"

	"adshard/auction"
	"adshard/search"
)

// TestQualityIsLinear: what decides on classes is the auction's own Q.
func TestQualityIsLinear(t *testing.T) {
	for kind := range search.MatchType(search.MatchTypes) {
		for level := range search.Level(search.Levels) {
			for quality := uint64(1); quality <= 10; quality++ {
				_, want, _ := auction.Rank(0, 0, quality, kind.Permille(), level.Permille())
				if got := quality * quality1(kind, level); got != want {
					t.Errorf("%v, %v, quality %d: %d, the auction's is %d", kind, level, quality, got, want)
				}
			}
		}
	}
}
