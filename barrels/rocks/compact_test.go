package rocks_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"adshard/barrels/barreltest"
	"adshard/barrels/rocks"
)

// TestTidying: compaction takes turns with buckets that are applied. It ends when its context
// is done or the store is closed.
func TestTidying(t *testing.T) {
	s, err := openStore(t.TempDir(), rocks.Options{WriteBufferBytes: 64 << 10})
	if err != nil {
		t.Fatal(err)
	}
	w := barreltest.NewBuilder(t, barreltest.Small(60, "usb cable", "red shoes")).All()
	if err := s.Apply(t.Context(), w); err != nil {
		t.Fatal(err)
	}
	var wait sync.WaitGroup
	for i := range 3 {
		wait.Go(func() {
			for round := time.Duration(0); ; round++ {
				ctx, cancel := context.WithTimeout(t.Context(), (1+round%9)*time.Millisecond<<i)
				err := s.Maintain(ctx)
				cancel()
				if err != nil {
					return // closed
				}
			}
		})
	}
	for clock := uint64(2); clock < 40; clock++ {
		if err := s.Apply(t.Context(), barreltest.Bulky(w, clock)); err != nil {
			t.Error(err)
		}
		barreltest.SameClock(t, s, 60, clock)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	wait.Wait()
}
