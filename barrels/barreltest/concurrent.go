package barreltest

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"google.golang.org/protobuf/proto"

	"adshard/schema/pb"
	"adshard/search"
)

// isolation checks that each search sees one state while background work runs: groups that one
// bucket changes together are always seen together, with that bucket's clock.
func isolation(t *testing.T, open Open) {
	s := open(t, "isolation")
	defer s.Close()
	w := Small(6, "usb cable")
	first := NewBuilder(t, w).All()
	put(t, s, first)
	const rounds = 60
	done := make(chan struct{})
	errs := make(chan error, 8)
	var wait sync.WaitGroup
	for range 3 {
		wait.Go(func() { errs <- watch(t, s, done) })
	}
	wait.Go(func() {
		for ended := false; !ended; {
			select {
			case <-done:
				ended = true
			default:
				maintain(t, s)
				s.Warm(context.Background())
			}
		}
	})
	for clock := uint64(2); clock < rounds; clock++ {
		d := &pb.NodeData{From: At(clock - 1), To: At(clock)}
		for _, it := range first.Items { // all bids depend on the clock
			n := proto.CloneOf(it)
			bid := clock * 1_000_000
			n.Keywords[0].Bid = &bid
			n.Group.Name = fmt.Sprint(clock)
			d.Items = append(d.Items, n)
		}
		put(t, s, d)
	}
	close(done)
	wait.Wait()
	close(errs)
	for err := range errs {
		if err != nil {
			t.Error(err)
		}
	}
}

// watch searches until done is closed, and returns an error if an answer mixes two states.
func watch(t *testing.T, s search.Searcher, done chan struct{}) error {
	for {
		select {
		case <-done:
			return nil
		default:
		}
		a, err := s.Search(context.Background(), query(t, "usb cable"))
		if err != nil {
			return err
		}
		if a.AppliedClock == 1 {
			continue
		}
		if len(a.Hits) != 5 || a.Matched != 6 {
			return fmt.Errorf("%d hits, %d matched", len(a.Hits), a.Matched)
		}
		for _, h := range a.Hits {
			c, err := h.Display.Content()
			if err != nil || h.Score/h.Quality != a.AppliedClock*1_000_000 || c.Group != fmt.Sprint(a.AppliedClock) {
				return fmt.Errorf("clock %d: bid %d of group %q, %v", a.AppliedClock, h.Score/h.Quality, c.Group, err)
			}
		}
	}
}
