package query

import (
	"testing"

	"adshard/auction"
	"adshard/search"
)

// TestQualityIsLinear: Q is proportional to the quality, so that Q for quality
// 1 decides on a class.
func TestQualityIsLinear(t *testing.T) {
	for kind := range search.MatchType(search.MatchTypes) {
		for level := range search.Level(search.Levels) {
			for quality := uint64(1); quality <= 10; quality++ {
				want := auction.Quality(quality, kind.Permille(), level.Permille())
				if got := quality * auction.Quality(1, kind.Permille(), level.Permille()); got != want {
					t.Errorf("%v, %v, quality %d: %d, the auction's is %d", kind, level, quality, got, want)
				}
			}
		}
	}
}
