package events_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"adshard/events"
	"adshard/events/store"
	"adshard/events/token"
)

// click counts a click on an advertiser's ad that was served at a time.
func (c *collector) click(t *testing.T, r *token.Ring, advertiser uint64, served time.Time) events.Outcome {
	t.Helper()
	text := textOf(r, token.Token{Served: served, Nonce: uint64(served.UnixNano()), Position: 1, Advertiser: advertiser, Campaign: 10 + advertiser, Keyword: 1, Ad: 1, Price: 10_000, Query: 5})
	out, err := c.Count(t.Context(), []events.Given{{Kind: store.Click, Token: text}})
	if err != nil {
		t.Fatal(err)
	}
	return out[0]
}

// kept returns how many clicks are kept with their queries, and how many without.
func kept(t *testing.T, s store.Store) (single, folded uint64) {
	t.Helper()
	err := s.Report(t.Context(), store.Query{By: store.ByQuery, To: 1 << 20}, func(r store.Row) error {
		if r.Kept {
			single += r.Clicks
		} else {
			folded += r.Clicks
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return single, folded
}

// TestKeep tests that single events are kept as long as configured, and then counted without
// their queries. They are never kept for less time than their tokens are valid.
func TestKeep(t *testing.T) {
	for keep, want := range map[time.Duration][2]uint64{0: {1, 2}, time.Minute: {1, 2}, 4 * time.Hour: {2, 1}, 6 * time.Hour: {3, 0}} {
		s := open(t, filepath.Join(t.TempDir(), "events.db"))
		control := newControl()
		c := newCollector(t, s, control)
		c.Keep = keep
		for _, at := range []time.Duration{0, 150 * time.Minute, 5 * time.Hour} {
			c.clock.at = start.Add(at)
			if o := c.click(t, ringOf(t, control), 1, c.clock.at); o != events.Counted {
				t.Fatal(o)
			}
			if err := c.Forget(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if single, folded := kept(t, s); [2]uint64{single, folded} != want {
			t.Errorf("kept for %v: %d single events, %d folded, want %v", keep, single, folded, want)
		}
	}
}

// dying is the store of a process that is killed after some steps of an erasure.
type dying struct {
	mortal
}

func (d dying) Erase(ctx context.Context, e *store.Erasure, limit int) (store.Step, error) {
	if err := d.take(); err != nil {
		return store.Step{}, err
	}
	return d.Store.Erase(ctx, e, min(limit, 2))
}

// TestErase tests that an erasure that is killed at any step and run again leaves nothing of the
// advertiser and everything of others. Earlier tokens are late, also those of a master whose
// clock is ahead; tokens of ads served later count.
func TestErase(t *testing.T) {
	for left := range 6 {
		s := open(t, filepath.Join(t.TempDir(), "events.db"))
		control := newControl()
		c := newCollector(t, s, control)
		ring := ringOf(t, control)
		for n := range 6 {
			for advertiser := range uint64(2) {
				c.click(t, ring, 1+advertiser, start.Add(time.Duration(n)*time.Second))
			}
		}
		if _, _, err := events.Erase(t.Context(), dying{mortal{s, &steps{left}}}, 2, nil, start, nil); !errors.Is(err, errKilled) {
			t.Fatalf("not killed: %v", err)
		}
		if o := c.click(t, ring, 2, start.Add(2*time.Second)); left > 0 && o != events.Late {
			t.Errorf("killed after %d steps: a click is %v", left, o)
		}
		_, refused, err := events.Erase(t.Context(), s, 2, nil, start, nil)
		if err != nil {
			t.Fatal(err)
		}
		for served, want := range map[time.Time]events.Outcome{
			start: events.Late, start.Add(events.Skew): events.Late, refused.Add(-time.Millisecond): events.Late, refused: events.Counted,
		} {
			c.clock.at = refused
			if o := c.click(t, ring, 2, served); o != want {
				t.Errorf("of an ad served at %v: %v, want %v", served, o, want)
			}
		}
		sums, err := s.Sums(t.Context(), 0)
		if err != nil || len(sums) != 2 || sums[0].Clicks != 6 || sums[1].Clicks != 1 {
			t.Errorf("killed after %d steps: %v, %v", left, sums, err)
		}
	}
}
