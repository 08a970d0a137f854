package storetest

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os/exec"
	"testing"
	"time"

	"adshard/events/store"
)

const (
	killBatch  = 200
	killRounds = 5
)

// AddForever adds one batch after another, from the first, and writes the number of each to out
// when it is acknowledged.
func AddForever(ctx context.Context, s store.Store, out io.Writer) error {
	for round := 0; ; round++ {
		if _, err := s.Add(ctx, killed(round)); err != nil {
			return err
		}
		if _, err := fmt.Fprintln(out, round); err != nil {
			return err
		}
	}
}

func killed(round int) (list []store.Event) {
	for n := range killBatch {
		list = append(list, EventOf(uint64(round*killBatch+n), round%100))
	}
	return list
}

// Kill starts a process that runs AddForever on a store, kills it with SIGKILL at random moments,
// and checks that all batches that were acknowledged are there, once, and no part of one.
// Each process adds again what those before it have added, as a client does that got no answer.
func Kill(t *testing.T, s store.Store, child func() *exec.Cmd) {
	newest := -1
	for range killRounds {
		newest = max(newest, killOnce(t, child()))
		sums, err := s.Sums(t.Context(), 0)
		must(t, err)
		var total, clicks, spend uint64
		for _, x := range sums {
			total, clicks, spend = total+x.Impressions+x.Clicks, clicks+x.Clicks, spend+x.Spend
		}
		rounds := int(total / killBatch)
		if total%killBatch != 0 || rounds < newest+1 {
			t.Fatalf("%d events are counted of batches of %d, of which %d were acknowledged", total, killBatch, newest+1)
		}
		var wantClicks, wantSpend uint64
		for round := range rounds {
			for _, e := range killed(round) {
				if e.Kind == store.Click {
					wantClicks, wantSpend = wantClicks+1, wantSpend+e.Token.Price
				}
			}
		}
		if clicks != wantClicks || spend != wantSpend {
			t.Fatalf("%d clicks for %d, want %d for %d", clicks, spend, wantClicks, wantSpend)
		}
	}
	for round := range newest + 1 {
		out, err := s.Add(t.Context(), killed(round))
		must(t, err)
		for i, o := range out {
			if o != store.Duplicate {
				t.Fatalf("event %d of batch %d was acknowledged, and is counted again", i, round)
			}
		}
	}
}

// killOnce returns the newest batch that the process acknowledged; -1: none.
func killOnce(t *testing.T, c *exec.Cmd) int {
	t.Helper()
	out, err := c.StdoutPipe()
	must(t, err)
	must(t, c.Start())
	newest, began := -1, false
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if _, err := fmt.Sscan(lines.Text(), &newest); err != nil {
			t.Fatal(err)
		}
		if !began { // it lives; what it does some milliseconds later is anything
			began = true
			time.AfterFunc(time.Duration(rand.IntN(80_000))*time.Microsecond, func() { _ = c.Process.Kill() })
		}
	}
	if err := c.Wait(); err == nil || !began {
		t.Fatalf("the process ended unexpectedly: %v", err)
	}
	return newest
}
