package config

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"testing"
)

func TestTheEnvironmentDecidesOnCollections(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	for _, c := range []struct {
		env  string
		want int
	}{{"", 400}, {"100", 100}} {
		t.Setenv("GOGC", c.env)
		SetGCPercent(400)
		if got := debug.SetGCPercent(100); got != c.want {
			t.Errorf("GOGC=%s: %d, want %d", c.env, got, c.want)
		}
	}
}

func TestSmallHeapsMayHaveMoreGarbage(t *testing.T) {
	for _, c := range []struct {
		live uint64
		want int
	}{{0, 400}, {10 << 20, 400}, {32 << 20, 200}, {64 << 20, 100}, {1 << 40, 100}} {
		if got := percentFor(64<<20, c.live); got != c.want {
			t.Errorf("%d bytes are live: %d %%, want %d", c.live, got, c.want)
		}
	}
}

func TestShareOfProcessors(t *testing.T) {
	for _, c := range []struct{ processors, children, want int }{{2, 3, 1}, {4, 3, 2}, {16, 3, 6}, {8, 1, 8}, {1, 64, 1}} {
		if got := share(c.processors, c.children); got != c.want {
			t.Errorf("%d processors, %d children: %d, want %d", c.processors, c.children, got, c.want)
		}
	}
	t.Setenv("GOMAXPROCS", "")
	if own := fmt.Sprint("GOMAXPROCS=", runtime.GOMAXPROCS(0)+1); !slices.Contains(ShareOfProcessors(1), own) {
		t.Errorf("one child does not get all: %q", ShareOfProcessors(1))
	}
	t.Setenv("GOMAXPROCS", "7")
	if env := ShareOfProcessors(3); !slices.Contains(env, "GOMAXPROCS=7") || slices.Contains(env, "GOMAXPROCS=1") {
		t.Errorf("the environment's own is not used: %q", env)
	}
}

func TestSpareProcessor(t *testing.T) {
	before := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(before)
	for env, want := range map[string]int{"": before + 1, "7": before} {
		t.Setenv("GOMAXPROCS", env)
		runtime.GOMAXPROCS(before)
		SpareProcessor()
		if got := runtime.GOMAXPROCS(0); got != want {
			t.Errorf("GOMAXPROCS=%s: %d, want %d", env, got, want)
		}
	}
}
