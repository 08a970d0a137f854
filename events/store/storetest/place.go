package storetest

import (
	"slices"
	"sync"
	"testing"
	"time"

	"adshard/events/store"
)

// placed tests that counts by place have each event once, both while it is kept and after several
// goroutines have folded it. It also tests that an erasure removes, in steps, only the counts of
// one advertiser.
func placed(t *testing.T, a, b store.Store) {
	m := newModel()
	list := make([]store.Event, 400)
	for n := range list {
		e := EventOf(uint64(1000+n), 100)
		e.Token.Campaign, e.Token.Keyword, e.Token.Ad, e.Token.Position = e.Token.Advertiser, uint64(1+n%3), uint64(1+n/3%2), uint8(1+n/6%4)
		list[n] = e
	}
	list = append(list, EventOf(5, 300)) // this event stays
	m.add(list)
	_, err := a.Add(t.Context(), list)
	must(t, err)
	for _, q := range []store.Query{
		{By: store.ByPlace, Daily: true, From: -1 << 20, To: 1 << 20}, {By: store.ByPlace, From: 19676, To: 19676, Advertiser: 1},
	} {
		if got, want := reported(t, t.Context(), b, q), m.report(q); !slices.Equal(got, want) {
			t.Fatalf("before: %v, want %v", got, want)
		}
	}
	all := store.Query{By: store.ByPlace, Daily: true, From: -1 << 20, To: 1 << 20}
	want := m.report(all)
	var folding sync.WaitGroup
	for _, s := range []store.Store{a, b} {
		folding.Go(func() {
			for range 60 {
				if _, err := s.Forget(t.Context(), start.Add(200*time.Second), 7); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for range 20 {
		if got := reported(t, t.Context(), b, all); !slices.Equal(got, want) {
			t.Errorf("while they are folded: %v, want %v", got, want)
			break
		}
	}
	folding.Wait()
	if got := reported(t, t.Context(), a, all); !slices.Equal(got, want) {
		t.Fatalf("folded: %v, want %v", got, want)
	}
	e := store.Erasure{Advertiser: 1, Before: start.Add(200 * time.Second)}
	for e.Part != store.Erased {
		did, err := a.Erase(t.Context(), &e, 5)
		must(t, err)
		if did.Counts > 5 {
			t.Fatalf("a step of 5 removed %+v", did)
		}
		checkSums(t, b)
	}
	m.erase(1, e.Before)
	if got, want := reported(t, t.Context(), b, all), m.report(all); !slices.Equal(got, want) {
		t.Errorf("after the erasure: %v, want %v", got, want)
	}
}
