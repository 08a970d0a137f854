package backend_test

import (
	"testing"

	"adshard/backend"
)

// TestLearned: a learned number returns the values from which it was made. Values that do not fit are reduced to the
// largest that do, and the number can be stored in a database.
func TestLearned(t *testing.T) {
	for _, c := range []struct {
		quality, level      uint8
		impressions, clicks float64
		wantI, wantC        uint32
	}{
		{1, 0, 0, 0, 0, 0}, {10, 4, 1200.4, 60.5, 1200, 61}, {7, 15, 1e18, 1e18, 1<<31 - 1, 1<<24 - 1}, {5, 2, 1<<31 - 1, 1<<24 - 1, 1<<31 - 1, 1<<24 - 1},
	} {
		l := backend.NewLearned(c.quality, c.level, c.impressions, c.clicks)
		if l.Quality() != c.quality || l.Level() != c.level || l.Impressions() != c.wantI || l.Clicks() != c.wantC || !l.Sound() || int64(l) <= 0 {
			t.Errorf("%+v: quality %d, level %d, %d impressions, %d clicks, %v", c, l.Quality(), l.Level(), l.Impressions(), l.Clicks(), l.Sound())
		}
	}
	for _, l := range []backend.Learned{16, 11, 1 << 63, 1<<63 | 5} {
		if l.Sound() {
			t.Errorf("%d is taken for a quality", l)
		}
	}
	k := backend.Keyword{KeywordSettings: backend.KeywordSettings{Quality: 4}}
	if k.Served() != 4 {
		t.Errorf("without a learned quality %d is served", k.Served())
	}
	if k.Learned = backend.NewLearned(9, 1, 1, 1); k.Served() != 9 || k.Quality != 4 {
		t.Errorf("served %d, given %d", k.Served(), k.Quality)
	}
}
