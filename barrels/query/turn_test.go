package query

import (
	"context"
	"runtime"
	"sync/atomic"
	"testing"

	"adshard/fault"
	"adshard/search"
)

// TestLongSearchesLetOthersRun: on one processor, another goroutine can run before a
// long search has visited its blocks; a short search does not yield.
func TestLongSearchesLetOthersRun(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	var s scan
	visit := func(blocks int) {
		for range blocks {
			if err := s.interrupted(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	var ran atomic.Bool
	go ran.Store(true)
	visit(turnBlocks - 1)
	short := ran.Load()
	visit(1 + turnBlocks) // once in 61 turns, Go's scheduler prefers the goroutine that has just yielded
	if short || !ran.Load() {
		t.Errorf("another ran after a few blocks: %v, after many: %v", short, ran.Load())
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.interrupted(ctx); !fault.Is(err, fault.Cancelled) {
		t.Error(err)
	}
}

// TestShortSearchesLetNobodyRun: blocks are counted for each search. Yielding costs
// more than a short search.
func TestShortSearchesLetNobodyRun(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	s := scanFor(t, "usb", search.DefaultProfile(), nil)
	var ran atomic.Bool
	go ran.Store(true)
	for range 10 {
		s.reset(nil, false)
		for range turnBlocks - 1 {
			if err := s.interrupted(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	if ran.Load() {
		t.Error("another ran beside short searches")
	}
	runtime.Gosched()
}
