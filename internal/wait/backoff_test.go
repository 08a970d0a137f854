package wait_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"adshard/internal/wait"
)

func TestBackoff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := wait.Backoff{Least: 100 * time.Millisecond, Most: 300 * time.Millisecond}
		for range 2 {
			for i, want := range []time.Duration{100, 200, 300, 300} {
				if longest := b.Longest(); longest != (i >= 2) {
					t.Fatalf("pause %d: longest: %v", i, longest)
				}
				began := time.Now()
				if err := b.Sleep(t.Context()); err != nil {
					t.Fatal(err)
				}
				want *= time.Millisecond
				if took := time.Since(began); took < want/2 || took >= want*3/2 {
					t.Fatalf("pause %d: %v, want about %v", i, took, want)
				}
			}
			b.Reset()
		}
	})
}

func TestBackoffEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	gone := errors.New("gone")
	cancel(gone)
	b := wait.Backoff{Least: time.Hour, Most: time.Hour}
	if err := b.Sleep(ctx); !errors.Is(err, gone) {
		t.Fatal(err)
	}
}
