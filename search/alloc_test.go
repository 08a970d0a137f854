//go:build !race

package search_test

import (
	"testing"

	"adshard/search"
	"adshard/search/words"
)

func TestScanDoesNotAllocate(t *testing.T) {
	q := benchQuery(t, "cheap usb cable for phone")
	store := &naive{blocks: map[uint64][]*block{words.TermOf("en", "usb"): {blockOf("en")}}}
	sink := &counter{}
	ctx, p := t.Context(), search.DefaultProfile()
	run := func() {
		if _, err := search.Scan(ctx, q, p, store, sink); err != nil {
			t.Fatal(err)
		}
	}
	run()
	// The pool may be emptied by a collection now and then.
	if n := testing.AllocsPerRun(1000, run); n >= 1 {
		t.Fatalf("%v allocations a scan", n)
	}
}
