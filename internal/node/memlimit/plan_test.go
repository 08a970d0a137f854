package memlimit

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"adshard/fault"
	"adshard/internal/node/config"
)

// TestDivide: the parts fit in the whole, and each is sufficient from the smallest memory size
// upward.
func TestDivide(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		slaves := rapid.IntRange(1, 64).Draw(t, "slaves")
		least := Least(slaves)
		memory := least + config.Size(rapid.Uint64Range(0, 1<<40).Draw(t, "more"))
		p, err := Divide(memory, slaves)
		if err != nil {
			t.Fatal(err)
		}
		sum := uint64(p.Heap) + program + uint64(slaves)*(p.Cache+p.Buffers+p.Buffers/2+native)
		if sum > uint64(memory) || uint64(slaves)*p.Data > uint64(p.Heap)-working {
			t.Fatalf("%v for %d slaves: %+v come to %v", memory, slaves, p, config.Size(sum))
		}
		if p.Data < leastData || p.Buffers < leastBuffers || p.Bucket < leastBucket || p.Bucket > max(leastBucket, int(memory)/slaves/64) {
			t.Fatalf("%v for %d slaves: %+v", memory, slaves, p)
		}
		if _, err := Divide(least-1, slaves); !fault.Is(err, fault.Invalid) {
			t.Fatalf("less than the least for %d slaves: %v", slaves, err)
		}
	})
}

// TestCheck: a store whose terms and campaigns leave no room is refused, and the amount of memory
// that the error recommends is sufficient.
func TestCheck(t *testing.T) {
	p, err := Divide(128*mib, 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Check(128*mib, p.Data/2); err != nil {
		t.Error(err)
	}
	always := 40 * uint64(mib)
	err = p.Check(128*mib, always)
	if !fault.Is(err, fault.Invalid) {
		t.Fatal(err)
	}
	_, told, _ := strings.Cut(err.Error(), "give at least ")
	var enough config.Size
	if err := config.Parse([]byte(told), &enough); err != nil {
		t.Fatalf("%q: %v", told, err)
	}
	if p, err = Divide(enough, 1); err != nil || p.Check(enough, always) != nil {
		t.Errorf("%v is not enough: %v, %v", enough, err, p.Check(enough, always))
	}
}

// TestPercent: garbage never takes more than the room left for it, or a minimum. A small heap is
// not collected all the time, and a heap with plenty of room is collected seldom.
func TestPercent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := Plan{Heap: rapid.Int64Range(64*mib, 1<<40).Draw(t, "heap")}
		live := rapid.Uint64Range(0, 2<<40).Draw(t, "live")
		percent := p.percentOf(live)
		room := live / 100 * uint64(percent)
		if room > working/2+live/garbage+live/100 && live+room > uint64(p.Heap) {
			t.Fatalf("%d live bytes of %d: %d %% are more than the heap's part", live, p.Heap, percent)
		}
		if live >= 8*mib && room < 8*mib {
			t.Fatalf("%d live bytes of %d: collected after %d", live, p.Heap, room)
		}
		if live > mib && live < uint64(p.Heap)/garbage && percent < 99 {
			t.Fatalf("%d live bytes of %d: collected after %d %% though there is room", live, p.Heap, percent)
		}
	})
}
