package linked

import (
	"testing"

	"adshard/bench/layouts"
	"adshard/bench/layouts/layouttest"
	"adshard/fault"
)

func TestLayouts(t *testing.T) {
	for _, l := range []layouts.Layout{RInK{}, Stateful{}, LInK{}} {
		t.Run(l.Name(), func(t *testing.T) { layouttest.Run(t, l) })
	}
}

// TestDamaged: a value that is cut off anywhere within a keyword is refused.
func TestDamaged(t *testing.T) {
	whole := value{1, 1, 1, 2, 3, 4, 5, 6, 7, 8}
	for n := range whole {
		v := whole[:n]
		if n == 0 {
			continue
		}
		if _, _, err := v.next(nil); !fault.Is(err, fault.Corrupt) {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
	if id, matches, err := whole.next(nil); id != 1 || matches || err != nil || len(whole) != 0 {
		t.Errorf("whole: %v, %v, %v", id, matches, err)
	}
}
