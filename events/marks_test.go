package events_test

import (
	"path/filepath"
	"testing"
	"time"

	"adshard/events"
	"adshard/events/store"
	"adshard/events/store/sqlite"
)

// TestMarksOfALostDatabase tests that if the database of events is lost, or an earlier state of it is restored, a mark of the day stays
// until midnight in the advertiser's zone, and is then taken back. An operator's mark stays. Days have 23 to 25 hours.
func TestMarksOfALostDatabase(t *testing.T) {
	for _, zone := range []string{"UTC", "Europe/Prague", "America/Los_Angeles", "Pacific/Auckland", "Asia/Kolkata"} {
		for _, began := range []time.Time{start, time.Date(2026, 3, 29, 0, 30, 0, 0, time.UTC), time.Date(2026, 10, 25, 0, 30, 0, 0, time.UTC)} {
			for _, what := range []string{"lost", "an earlier moment", "killed before it was noted there"} {
				t.Run(zone+" "+began.Format(time.DateOnly)+" "+what, func(t *testing.T) { lostDay(t, zone, began, what) })
			}
		}
	}
}

const marked, operators, removed, spending = 1, 2, 3, 4

func lostDay(t *testing.T, name string, now time.Time, what string) {
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	zone, err := time.LoadLocation(name)
	must(err)
	list := make(map[uint64]*events.Budget)
	for c := range uint64(4) {
		list[c+1] = &events.Budget{Campaign: c + 1, Advertiser: 1, Daily: 10_000, Limited: true, Zone: zone}
	}
	control := newControl()
	sweep := func(s store.Store, at time.Time) {
		t.Helper()
		b := budgetsOf(s, fewCampaigns{&steps{1000}, list}, at)
		b.Control = control
		must(b.Sweep(t.Context()))
	}
	click := func(s store.Store, n, campaign uint64, at time.Time) {
		t.Helper()
		e := clickOf(n, campaign, at)
		y, m, d := at.In(zone).Date()
		e.Day = store.DayOf(time.Date(y, m, d, 0, 0, 0, 0, time.UTC).Format(time.DateOnly))
		_, err := s.Add(t.Context(), []store.Event{e})
		must(err)
	}
	dir := t.TempDir()
	first, err := sqlite.Open(t.Context(), filepath.Join(dir, "first"))
	must(err)
	defer first.Close()
	for i, c := range []uint64{marked, removed} {
		click(first, uint64(i+1), c, now)
	}
	sweep(first, now)
	if !list[marked].Exhausted || list[spending].Exhausted {
		t.Fatal("the budget is not kept at all")
	}
	list[operators].Exhausted = true
	delete(list, removed)

	left := first
	switch what {
	case "lost":
		left, err = sqlite.Open(t.Context(), filepath.Join(dir, "second"))
		must(err)
		defer left.Close()
	case "an earlier moment": // its sums lack the clicks
		left, err = sqlite.Open(t.Context(), filepath.Join(dir, "restored"))
		must(err)
		defer left.Close()
		click(left, 9, marked, now.Add(-48*time.Hour))
	default:
		marks, err := first.Marks(t.Context())
		must(err)
		must(first.ClearMark(t.Context(), marks[0]))
		must(first.ClearMark(t.Context(), marks[1]))
	}
	y, m, d := now.In(zone).Date()
	midnight := time.Date(y, m, d+1, 0, 0, 0, 0, zone)
	for at := now; at.Before(midnight); at = at.Add(time.Hour) {
		if sweep(left, at); !list[marked].Exhausted || !list[operators].Exhausted {
			t.Fatalf("at %v, before midnight at %v, the mark is taken back: %+v", at, midnight, list)
		}
	}
	sweep(left, midnight.Add(-time.Second))
	if !list[marked].Exhausted {
		t.Error("a second before midnight the mark is taken back")
	}
	click(left, 10, spending, midnight.Add(time.Second))
	for range 2 {
		sweep(left, midnight.Add(2*time.Second))
		if list[marked].Exhausted || !list[operators].Exhausted || !list[spending].Exhausted {
			t.Fatalf("after midnight: %+v, by an operator %+v, of the new day %+v", list[marked], list[operators], list[spending])
		}
	}
	list[marked].Exhausted = true // set by an operator, on the new day
	sweep(left, midnight.Add(time.Hour))
	sweep(left, midnight.Add(30*time.Hour))
	if !list[marked].Exhausted || list[spending].Exhausted {
		t.Errorf("on the day after: %+v, %+v", list[marked], list[spending])
	}
}
