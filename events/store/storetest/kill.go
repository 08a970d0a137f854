package storetest

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"sync"
	"testing"
	"time"

	"adshard/events/store"
)

const (
	killBatch  = 200
	killRounds = 5
)

// folding is the environment variable that makes a child process fold instead of add.
const folding = "ADSHARD_EVENTS_FOLDING"

// Child is the work of a process that Kill or KillFold starts and kills. It writes to out what it has done.
func Child(ctx context.Context, s store.Store, out io.Writer) error {
	if os.Getenv(folding) != "" {
		return foldForever(ctx, s, out)
	}
	return addForever(ctx, s, out)
}

// addForever adds one batch after another, beginning with batch 0. When a batch is acknowledged, it writes the
// number of the batch to out.
func addForever(ctx context.Context, s store.Store, out io.Writer) error {
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

// Kill starts a process that runs Child on a store, kills it with SIGKILL at a random moment, and repeats this. It
// checks that all acknowledged batches are there exactly once, and that no batch is there in part. Each process
// adds the batches of earlier processes again, like a client that got no answer.
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

// foldForever folds a few events at a time.
func foldForever(ctx context.Context, s store.Store, out io.Writer) error {
	for n := 0; ; n++ {
		if _, err := s.Forget(ctx, start.Add(200*time.Second), 3); err != nil {
			return err
		}
		if _, err := fmt.Fprintln(out, n); err != nil {
			return err
		}
	}
}

// KillFold starts pairs of processes that fold the events of a store, and kills them at random moments. It checks
// that reports are the same before, meanwhile and afterwards. Then it erases an advertiser and checks that none of
// its data are left and that events that are added again, of any advertiser, do not count twice.
func KillFold(t *testing.T, s store.Store, child func() *exec.Cmd) {
	m := newModel()
	var list []store.Event
	for n := range 2000 {
		list = append(list, EventOf(uint64(n), n%100))
	}
	list = append(list, EventOf(5000, 300)) // the newest event is never folded
	_, err := s.Add(t.Context(), list)
	must(t, err)
	m.add(list)
	all := store.Query{By: store.ByPlace, Daily: true, From: -1 << 20, To: 1 << 20}
	want := m.report(all)
	for range killRounds {
		var both sync.WaitGroup
		for range 2 {
			c := child()
			c.Env = append(c.Env, folding+"=1")
			both.Go(func() { killOnce(t, c) })
		}
		both.Wait()
		if got := reported(t, t.Context(), s, all); !slices.Equal(got, want) {
			t.Fatalf("a kill in a fold changes what is reported: %v, want %v", got, want)
		}
	}
	sent := func(when string) {
		out, err := s.Add(t.Context(), list)
		must(t, err)
		for i, o := range out {
			if o == store.Counted {
				t.Fatalf("%s: event %d is counted again", when, i)
			}
		}
	}
	sent("after kills")
	e := store.Erasure{Advertiser: 1, Before: start.Add(400 * time.Second)}
	for e.Part != store.Erased {
		_, err := s.Erase(t.Context(), &e, 100)
		must(t, err)
	}
	sent("after an erasure")
	others := slices.DeleteFunc(want, func(r store.Row) bool { return r.Advertiser == 1 })
	if got := reported(t, t.Context(), s, all); !slices.Equal(got, others) {
		t.Errorf("after an erasure and all events again: %v, want %v", got, others)
	}
}

// killOnce runs a process until it is killed. It returns the newest batch that the process acknowledged, or -1 if
// it acknowledged none.
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
		if !began { // it works now, and may be at any step some milliseconds later
			began = true
			time.AfterFunc(time.Duration(rand.IntN(80_000))*time.Microsecond, func() { _ = c.Process.Kill() })
		}
	}
	if err := c.Wait(); err == nil || !began {
		t.Fatalf("the process ended unexpectedly: %v", err)
	}
	return newest
}
