package storetest

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	"adshard/events/store"
	"adshard/fault"
)

// everything is a query for all counts.
var everything = store.Query{By: store.ByKeyword, Daily: true, From: -1 << 20, To: 1 << 20}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func reported(t interface {
	Helper()
	Fatal(...any)
}, ctx context.Context, s store.Store, q store.Query) (out []store.Row) {
	t.Helper()
	must(t, s.Report(ctx, q, func(r store.Row) error {
		out = append(out, r)
		return nil
	}))
	return out
}

// filled adds events, and folds some of them.
func filled(t *testing.T, s store.Store, m *model) []store.Event {
	var list []store.Event
	for n := range 300 {
		list = append(list, EventOf(uint64(n), n%100))
	}
	_, err := s.Add(t.Context(), list)
	must(t, err)
	m.add(list)
	_, err = s.Forget(t.Context(), start.Add(40*time.Second), 100)
	must(t, err)
	m.forget(start.Add(40*time.Second), 100)
	return list
}

// erased tests an erasure that is killed between any two steps and then repeated: it removes all
// data of its advertiser and none of others, whose events are counted and folded meanwhile. From
// its first step on, earlier events are rejected; events of ads served later are not.
func erased(t *testing.T, a, b store.Store) {
	m := newModel()
	list := filled(t, a, m)
	until := start.Add(200 * time.Second)
	others := slices.DeleteFunc(m.report(everything), func(r store.Row) bool { return r.Advertiser == 2 })
	for steps := 1; ; steps++ { // each round has one more step before the kill
		e := store.Erasure{Advertiser: 2, Before: until}
		for range steps {
			did, err := b.Erase(t.Context(), &e, 20)
			must(t, err)
			if did.Events > 40 || did.Counts > 20 {
				t.Fatalf("a step of 20 removed %+v", did)
			}
		}
		checkSums(t, a)
		got := slices.DeleteFunc(reported(t, t.Context(), a, everything), func(r store.Row) bool { return r.Advertiser == 2 })
		if !reflect.DeepEqual(got, others) {
			t.Fatalf("after %d steps others have %v, want %v", steps, got, others)
		}
		out, err := a.Add(t.Context(), list)
		must(t, err)
		if i := slices.Index(out, store.Counted); i >= 0 {
			t.Fatalf("after %d steps event %+v is counted again", steps, list[i])
		}
		if e.Part == store.Erased {
			break
		}
		n, err := a.Forget(t.Context(), start.Add(time.Duration(40+steps)*time.Second), 2)
		must(t, err)
		m.forget(start.Add(time.Duration(40+steps)*time.Second), n)
	}
	m.erase(2, until)
	later := EventOf(301, 250) // of advertiser 2
	if out, err := a.Add(t.Context(), []store.Event{later}); err != nil || out[0] != store.Counted {
		t.Errorf("what is served later: %v, %v", out, err)
	}
	m.add([]store.Event{later})
	if got, want := reported(t, t.Context(), b, everything), m.report(everything); !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if sums, err := b.Sums(t.Context(), 0); err != nil || !reflect.DeepEqual(sums, m.sums(19675, nil)) {
		t.Errorf("sums %v, %v, want %v", sums, err, m.sums(19675, nil))
	}
	if _, err := b.Erase(t.Context(), &store.Erasure{}, 1); !fault.Is(err, fault.Invalid) {
		t.Errorf("of no advertiser: %v", err)
	}
}

// checkSums checks that the sums by campaign and day equal the events and counts.
func checkSums(t *testing.T, s store.Store) {
	t.Helper()
	want, err := s.Sums(t.Context(), -1<<20)
	must(t, err)
	byCampaign := make(map[store.SumKey]store.Sum)
	for _, r := range reported(t, t.Context(), s, everything) {
		key := store.SumKey{Campaign: r.Campaign, Day: r.Day}
		sum := byCampaign[key]
		byCampaign[key] = store.Sum{Campaign: r.Campaign, Day: r.Day, Impressions: sum.Impressions + r.Impressions,
			Clicks: sum.Clicks + r.Clicks, Spend: sum.Spend + r.Spend}
	}
	if len(want) != len(byCampaign) {
		t.Fatalf("%d sums, the report has %d", len(want), len(byCampaign))
	}
	for _, sum := range want {
		if byCampaign[store.SumKey{Campaign: sum.Campaign, Day: sum.Day}] != sum {
			t.Fatalf("sum %+v, the report has %+v", sum, byCampaign[store.SumKey{Campaign: sum.Campaign, Day: sum.Day}])
		}
	}
}

// erasedWhileAdded tests events that several goroutines add, fold and erase at once: each event
// is counted once, or gone.
func erasedWhileAdded(t *testing.T, a, b store.Store) {
	const events, batch = 2000, 50
	list := make([]store.Event, events)
	m := newModel()
	for n := range list {
		list[n] = EventOf(uint64(n), n/40)
	}
	m.add(list)
	m.erase(1, start.Add(time.Hour))
	var all sync.WaitGroup
	for _, s := range []store.Store{a, b} {
		all.Go(func() {
			for part := range slices.Chunk(list, batch) {
				if _, err := s.Add(t.Context(), part); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Go(func() {
		for n := range 40 {
			if _, err := b.Forget(t.Context(), start.Add(time.Duration(n/4)*time.Second), 30); err != nil {
				t.Error(err)
			}
		}
	})
	for range 3 {
		e := store.Erasure{Advertiser: 1, Before: start.Add(time.Hour)}
		for e.Part != store.Erased {
			if _, err := a.Erase(t.Context(), &e, 100); err != nil {
				t.Error(err)
				break
			}
		}
	}
	all.Wait()
	checkSums(t, b)
	got := reported(t, t.Context(), a, everything)
	if len(got) > 0 && got[0].Advertiser == 1 {
		t.Errorf("%+v is there still", got[0])
	}
	// Events that were added after their ids could be forgotten are rejected; all others are
	// counted.
	if _, err := a.Add(t.Context(), list); err != nil {
		t.Error(err)
	}
	counted := make(map[uint64]bool)
	for _, r := range reported(t, t.Context(), a, everything) {
		counted[r.Keyword] = true
		if r.Impressions+r.Clicks != 1 {
			t.Errorf("%+v is of one event", r)
		}
	}
	for n := range list {
		if of := list[n].Token; of.Advertiser != 1 && !counted[of.Keyword] && n/40 > 10 {
			t.Errorf("event %d of an advertiser that was not erased is gone", n)
		}
	}
}

// erasedOfBefore tests that counts without an advertiser are erased by their campaigns.
func erasedOfBefore(t *testing.T, a, b store.Store) {
	var list []store.Event
	for n := range 20 {
		list = append(list, EventOf(uint64(n), n))
		list[n].Token.Advertiser = 0
	}
	_, err := a.Add(t.Context(), append(list, EventOf(30, 3000)))
	must(t, err)
	_, err = a.Forget(t.Context(), start.Add(time.Minute), 100)
	must(t, err)
	e := store.Erasure{Advertiser: 7, Before: start, Campaigns: []uint64{2, 4}}
	for e.Part != store.Erased {
		_, err := b.Erase(t.Context(), &e, 3)
		must(t, err)
	}
	left := make(map[uint64]int)
	for _, r := range reported(t, t.Context(), a, everything) {
		left[r.Campaign]++
	}
	if want := map[uint64]int{1: 5, 3: 4, 5: 4}; !reflect.DeepEqual(left, want) {
		t.Errorf("%v, want %v", left, want)
	}
	checkSums(t, b)
}

// claimed tests that the events of a store belong to one database only.
func claimed(t *testing.T, a, b store.Store) {
	for _, s := range []store.Store{a, b, a} {
		must(t, s.Claim(t.Context(), "one"))
	}
	for _, s := range []store.Store{a, b} {
		if err := s.Claim(t.Context(), "another"); !fault.Is(err, fault.Conflict) {
			t.Errorf("claimed by another one: %v", err)
		}
	}
}

// reportEnds tests that an error of the callback ends a report and is returned unchanged.
func reportEnds(t *testing.T, a, _ store.Store) {
	filled(t, a, newModel())
	full, rows := errors.New("full"), 0
	err := a.Report(t.Context(), everything, func(store.Row) error {
		rows++
		return full
	})
	if !errors.Is(err, full) || fault.KindOf(err) != fault.Internal || rows != 1 {
		t.Errorf("%v after %d rows", err, rows)
	}
}
