package storetest

import (
	"reflect"
	"sync"
	"testing"
	"time"

	"adshard/events/store"
	"adshard/fault"
)

// Contents is all that can be read from a store of events.
type Contents struct {
	ID               string
	Keywords, Places []store.Row
	Sums             []store.Sum
	Marks            []store.Mark
}

// ContentsOf reads the contents of a store.
func ContentsOf(t *testing.T, s store.Store) (c Contents) {
	t.Helper()
	var err error
	c.ID, err = s.ID(t.Context())
	must(t, err)
	c.Sums, err = s.Sums(t.Context(), -1<<20)
	must(t, err)
	c.Marks, err = s.Marks(t.Context())
	must(t, err)
	places := everything
	places.By = store.ByPlace
	c.Keywords, c.Places = reported(t, t.Context(), s, everything), reported(t, t.Context(), s, places)
	return c
}

// Full fills a store of the backend database "one" with events, some of which it folds, a mark, and an erasure of advertiser 2.
// It returns all events; those of advertiser 1 are still in the store.
func Full(t *testing.T, s store.Store) []store.Event {
	t.Helper()
	list := filled(t, s, newModel())
	must(t, s.Claim(t.Context(), "one"))
	must(t, s.SetMark(t.Context(), store.Mark{Campaign: 3, Day: 19675}))
	e := store.Erasure{Advertiser: 2, Before: start.Add(200 * time.Second)}
	for e.Part != store.Erased {
		_, err := s.Erase(t.Context(), &e, 100)
		must(t, err)
	}
	return list
}

// Format3 checks that a store of format 3, which downgrade makes, is updated with all its contents and gets an id.
func Format3(t *testing.T, s store.Store, downgrade func(), open func() store.Store) {
	Full(t, s)
	want := ContentsOf(t, s)
	downgrade()
	got := ContentsOf(t, open())
	if len(got.ID) < 20 || got.ID == want.ID {
		t.Errorf("the id is %q", got.ID)
	}
	want.ID = got.ID
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v\nwant %+v", got, want)
	}
}

// NextFormat checks that several programs of the next format at once update a store with all its contents, and that a program of
// this format then refuses to open it.
func NextFormat(t *testing.T, s store.Store, next, again func() (store.Store, error)) {
	list := Full(t, s)
	want := ContentsOf(t, s)
	stores, errs := make([]store.Store, 3), make([]error, 3)
	var programs sync.WaitGroup
	for i := range stores {
		programs.Go(func() { stores[i], errs[i] = next() })
	}
	programs.Wait()
	for i := range stores {
		must(t, errs[i])
	}
	now := stores[0]
	if got := ContentsOf(t, now); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v\nwant %+v", got, want)
	}
	out, err := now.Add(t.Context(), list)
	must(t, err)
	for i, o := range out {
		if o == store.Counted {
			t.Fatalf("event %d is counted again", i)
		}
	}
	if err := now.Claim(t.Context(), "another"); !fault.Is(err, fault.Conflict) {
		t.Errorf("claimed by another database: %v", err)
	}
	if s, err := again(); !fault.Is(err, fault.Version) {
		t.Errorf("a program of this format: %v, %v", s, err)
	}
}
