package storetest

import (
	"testing"
	"time"

	"adshard/events/store"
)

// Upgraded fills a store, some events of which it folds; upgraded makes its tables those of format 2 and returns
// a handle that has brought them up to date. It returns the reports by keyword from before and after,
// and fails unless earlier counts are without a place, and those that are folded after it have one.
func Upgraded(t *testing.T, s store.Store, upgraded func() store.Store) (before, after []store.Row) {
	filled(t, s, newModel())
	before = reported(t, t.Context(), s, everything)
	byPlace := everything
	byPlace.By = store.ByPlace
	places := func(s store.Store) (with, without int) {
		for _, r := range reported(t, t.Context(), s, byPlace) {
			if r.Ad != 0 && r.Position != 0 {
				with++
			} else {
				without++
			}
		}
		return with, without
	}
	if with, without := places(s); with == 0 || without != 0 {
		t.Fatalf("of this format: %d counts with places, %d without", with, without)
	}
	now := upgraded()
	kept, folded := places(now)
	if kept == 0 || folded == 0 {
		t.Errorf("of format 2: %d counts with places, %d without", kept, folded)
	}
	_, err := now.Forget(t.Context(), start.Add(time.Hour), 1000)
	must(t, err)
	if with, without := places(now); with != kept || without != folded {
		t.Errorf("then: %d counts with places, %d without; before %d and %d", with, without, kept, folded)
	}
	checkSums(t, now)
	return before, reported(t, t.Context(), now, everything)
}
