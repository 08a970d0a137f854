package postgres_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"adshard/backend"
	"adshard/backend/backendtest"
	"adshard/fault"
)

// TestEightWriters lets eight writers commit at once, each to its own groups and to some that all write, while
// readers follow the feed. Each reader sees every clock once, in order and without gaps, and finds the change in a
// snapshot. WRITERS_LONG=1 makes a million changes, which takes some minutes.
func TestEightWriters(t *testing.T) {
	const writers = 8
	rounds, groups := 12, 10
	if os.Getenv("WRITERS_LONG") != "" {
		rounds, groups = 250, 500
	}
	p := newPlace(t)
	s := open(t, p)
	add(t, s, "shared", "G", "first") // so that the first transactions need not wait for each other
	start, err := s.Newest(t.Context())
	must(t, err)
	done := make(chan struct{})
	var followers, work sync.WaitGroup
	var seen [2][]backend.Change
	for i := range seen {
		from := open(t, p)
		followers.Go(func() { seen[i] = followed(t, from, start, done) })
	}
	for w := range writers {
		to := open(t, p)
		work.Go(func() {
			for r := range rounds {
				if err := writeUntilDone(t.Context(), to, w, r, groups); err != nil {
					t.Errorf("writer %d: %v", w, err)
					return
				}
			}
		})
	}
	work.Wait()
	close(done)
	followers.Wait()
	end, err := s.Newest(t.Context())
	must(t, err)
	for i, list := range seen {
		if len(list) != int(end.Clock-start.Clock) {
			t.Errorf("follower %d has seen %d changes, of %d", i, len(list), end.Clock-start.Clock)
		}
		count := make(map[string]int)
		for _, c := range list {
			count[fmt.Sprint(c.Kind, ":", c.ID)]++
		}
		// Each round of each writer changes the shared group once.
		if n := count["ad group:1"]; n != writers*rounds {
			t.Errorf("the group that all write has changed %d times, want %d", n, writers*rounds)
		}
	}
	n, err := s.Counts(t.Context())
	must(t, err)
	if want := uint64(1 + writers*rounds*(groups+1)); n.Keywords != want {
		t.Errorf("%d keywords, want %d", n.Keywords, want)
	}
	distinctIDs(t, backendtest.ReadNow(t, s))
}

// writeUntilDone repeats a transaction while others make it fail.
func writeUntilDone(ctx context.Context, s backend.Store, w, r, groups int) error {
	for {
		err := write(ctx, s, func(tx backend.Tx) error {
			for g := range groups {
				if err := addTo(ctx, tx, fmt.Sprint("own ", w), fmt.Sprint("G", g), fmt.Sprint("round ", r)); err != nil {
					return err
				}
			}
			return addTo(ctx, tx, "shared", "G", fmt.Sprint("writer ", w, " round ", r)) // last, since the others wait for it
		})
		if !fault.Is(err, fault.Locked) {
			return err
		}
	}
}

// followed reads the feed until done is closed, and then to its end.
func followed(t *testing.T, s backend.Store, at backend.Position, done <-chan struct{}) (seen []backend.Change) {
	ctx := context.Background()
	for last := false; ; {
		changes, err := s.Changes(ctx, at, 97)
		if err != nil {
			t.Error(err)
			return seen
		}
		for _, c := range changes {
			if c.Clock != at.Clock+1 {
				t.Errorf("clock %d follows %d", c.Clock, at.Clock)
			}
			at = backend.Position{Clock: c.Clock, Mark: c.Mark}
		}
		seen = append(seen, changes...)
		switch {
		case len(changes) > 0:
			readAt(t, s, changes[len(changes)-1])
		case last:
			return seen
		}
		select {
		case <-done:
			last = len(changes) == 0
		default:
		}
	}
}

// readAt checks that a snapshot taken now has the version of a change, or a later one.
func readAt(t *testing.T, s backend.Store, c backend.Change) {
	ctx := context.Background()
	n, err := s.Snapshot(ctx)
	if err != nil {
		t.Error(err)
		return
	}
	defer n.Close()
	if n.Position().Clock < c.Clock {
		t.Errorf("a snapshot after clock %d is at %v", c.Clock, n.Position())
	}
	if c.Kind != backend.KindGroup {
		return
	}
	items, err := n.Items(ctx, []uint64{c.ID})
	if err != nil || len(items) != 1 || items[0].Group.Version < c.Clock || items[0].Group.Version > n.Position().Clock {
		t.Errorf("group %d of clock %d in a snapshot at %v: %v, %v", c.ID, c.Clock, n.Position(), items, err)
	}
}

func distinctIDs(t *testing.T, n backendtest.State) {
	t.Helper()
	ids := make(map[uint64]string)
	for _, it := range n.Items {
		for _, k := range it.Keywords {
			if before, ok := ids[k.ID]; ok {
				t.Errorf("%q and %q have the id %d", before, k.Text, k.ID)
			}
			ids[k.ID] = strings.Join([]string{it.Group.Name, k.Text}, " ")
		}
	}
}
