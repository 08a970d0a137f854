// Package storetest is the conformance suite of package events/store. It compares random calls with a
// slow model, adds the same events in several goroutines at once, and kills processes.
package storetest

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"adshard/events/store"
	"adshard/events/token"
	"adshard/fault"
)

// Run runs the suite. opened must return an empty store that it closes after the test, and a second
// handle on the same store, such as another process would have.
func Run(t *testing.T, opened func(testing.TB) (a, b store.Store)) {
	for name, clause := range map[string]func(*testing.T, store.Store, store.Store){
		"AsModel": asModel, "Once": once, "Refused": refused, "Cancelled": cancelled, "Forgotten": forgotten, "Largest": largest,
		"Erased": erased, "ErasedWhileAdded": erasedWhileAdded, "ErasedOfBefore": erasedOfBefore, "Claimed": claimed, "ReportEnds": reportEnds,
		"Placed": placed,
	} {
		t.Run(name, func(t *testing.T) {
			a, b := opened(t)
			clause(t, a, b)
		})
	}
}

var start = time.Unix(1_700_000_000, 0)

// EventOf returns event number n, whose token was served some seconds after a fixed time. Events with
// other numbers have other ids.
func EventOf(n uint64, seconds int) store.Event {
	e := store.Event{ID: token.From(start.Add(time.Duration(seconds) * time.Second)), Kind: store.Kind(1 + n%2), Day: store.Day(19675 + n%3)}
	binary.BigEndian.PutUint64(e.ID[4:], n*0x9e3779b97f4a7c15) // the factor is odd, so that no two are the same
	e.Token = token.Token{Advertiser: 1 + n%2, Campaign: 1 + n%5, Keyword: n, Ad: n + 1, Position: uint8(1 + n%20), Price: 10_000 + n%1000, Query: n << 60}
	return e
}

// model is a simple and slow store, with which others are compared.
type model struct {
	events  map[string]store.Event
	folded  map[string]bool // keys of events
	horizon token.ID
	erased  map[uint64]token.ID // horizons of advertisers
	marks   map[uint64]store.Day
}

func newModel() *model {
	return &model{events: make(map[string]store.Event), folded: make(map[string]bool), erased: make(map[uint64]token.ID), marks: make(map[uint64]store.Day)}
}

func keyOf(e *store.Event) string { return fmt.Sprintf("%x %d", e.ID, e.Kind) }

func (m *model) add(events []store.Event) (out []store.Outcome) {
	for _, e := range events {
		key, of := keyOf(&e), m.erased[e.Token.Advertiser]
		_, had := m.events[key]
		switch {
		case string(e.ID[:]) < string(m.horizon[:]), string(e.ID[:]) < string(of[:]):
			out = append(out, store.Forgotten)
		case had:
			out = append(out, store.Duplicate)
		default:
			out = append(out, store.Counted)
			m.events[key] = e
		}
	}
	return out
}

// forget makes add reject tokens served before a second, but none after the newest event, and folds up to
// limit events. It returns the number of events folded.
func (m *model) forget(before time.Time, limit int) int {
	defer maps.DeleteFunc(m.erased, func(_ uint64, id token.ID) bool { return string(id[:]) <= string(m.horizon[:]) })
	for _, e := range m.events {
		if id := token.From(e.ID.TimeOf().Add(time.Second)); string(id[:]) > string(m.horizon[:]) {
			if cut := token.From(before); string(cut[:]) < string(id[:]) {
				id = cut
			}
			m.horizon = token.ID(slices.MaxFunc([][]byte{m.horizon[:], id[:]}, bytes.Compare))
		}
	}
	n := 0
	for _, key := range slices.Sorted(maps.Keys(m.events)) { // by id and kind
		if e := m.events[key]; n < limit && !m.folded[key] && e.ID.TimeOf().Before(before) {
			m.folded[key] = true
			n++
		}
	}
	return n
}

// erase removes an advertiser's events whose tokens were served before a time.
func (m *model) erase(advertiser uint64, before time.Time) {
	m.erased[advertiser] = token.From(before)
	maps.DeleteFunc(m.events, func(_ string, e store.Event) bool {
		return e.Token.Advertiser == advertiser && e.ID.TimeOf().Before(before)
	})
}

// report computes a report from all events, one by one.
func (m *model) report(q store.Query) (out []store.Row) {
	rows := make(map[store.Row]store.Sum) // by the row without its sums
	for key, e := range m.events {
		if e.Day < q.From || e.Day > q.To || q.Advertiser != 0 && q.Advertiser != e.Token.Advertiser {
			continue
		}
		about := store.Row{Advertiser: e.Token.Advertiser, Sum: store.Sum{Campaign: e.Token.Campaign}}
		if q.Daily {
			about.Day = e.Day
		}
		if q.By == store.ByKeyword || q.By == store.ByPlace {
			about.Keyword = e.Token.Keyword
		}
		if q.By == store.ByPlace {
			about.Ad, about.Position = e.Token.Ad, e.Token.Position
		}
		if q.By == store.ByQuery && !m.folded[key] {
			about.Kept, about.Query = true, e.Token.Query
		}
		sums := map[store.SumKey]store.Sum{{Campaign: about.Campaign, Day: e.Day}: rows[about]}
		store.Include(sums, &e)
		rows[about] = sums[store.SumKey{Campaign: about.Campaign, Day: e.Day}]
	}
	for about, sum := range rows {
		about.Impressions, about.Clicks, about.Spend = sum.Impressions, sum.Clicks, sum.Spend
		out = append(out, about)
	}
	slices.SortFunc(out, func(a, b store.Row) int {
		return cmp.Or(cmp.Compare(a.Advertiser, b.Advertiser), cmp.Compare(a.Campaign, b.Campaign), cmp.Compare(a.Keyword, b.Keyword),
			cmp.Compare(a.Ad, b.Ad), cmp.Compare(a.Position, b.Position), cmp.Compare(number(a.Kept), number(b.Kept)), cmp.Compare(int64(a.Query), int64(b.Query)), cmp.Compare(a.Day, b.Day))
	})
	return out
}

func number(b bool) int {
	if b {
		return 1
	}
	return 0
}

// sums computes the sums from all events, also the folded ones.
func (m *model) sums(from store.Day, campaigns []uint64) (out []store.Sum) {
	for c := range uint64(10) {
		for day := from; day < from+10; day++ {
			s := store.Sum{Campaign: c, Day: day}
			for _, e := range m.events {
				switch {
				case e.Token.Campaign != c || e.Day != day || campaigns != nil && !slices.Contains(campaigns, c):
				case e.Kind == store.Click:
					s.Clicks, s.Spend = s.Clicks+1, s.Spend+e.Token.Price
				default:
					s.Impressions++
				}
			}
			if s.Clicks+s.Impressions > 0 {
				out = append(out, s)
			}
		}
	}
	return out
}

func must(t interface {
	Helper()
	Fatal(...any)
}, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// asModel makes random calls through two handles on one store, and compares the results with the model.
// Events of earlier draws stay in the store.
func asModel(t *testing.T, a, b store.Store) {
	m := newModel()
	ctx := t.Context()
	rapid.Check(t, func(t *rapid.T) {
		for range rapid.IntRange(1, 8).Draw(t, "calls") {
			s := rapid.SampledFrom([]store.Store{a, b}).Draw(t, "handle")
			switch rapid.IntRange(0, 6).Draw(t, "call") {
			case 0:
				before := start.Add(time.Duration(rapid.IntRange(-10, 60).Draw(t, "before")) * time.Second)
				limit := rapid.IntRange(1, 5).Draw(t, "limit")
				n, err := s.Forget(ctx, before, limit)
				must(t, err)
				if want := m.forget(before, limit); n != want {
					t.Fatalf("%d events folded, want %d", n, want)
				}
			case 6:
				e := store.Erasure{Advertiser: 1 + rapid.Uint64Range(0, 5).Draw(t, "advertiser"), Before: start.Add(time.Duration(rapid.IntRange(-10, 110).Draw(t, "erased before")) * time.Second)}
				// Folded counts do not say when their tokens were served, so an erasure removes all of
				// them.
				e.Before = latest(e.Before, m.horizon.TimeOf())
				for e.Part != store.Erased {
					_, err := s.Erase(ctx, &e, rapid.IntRange(50, 300).Draw(t, "step"))
					must(t, err)
				}
				m.erase(e.Advertiser, e.Before)
			case 1:
				mark := store.Mark{Campaign: rapid.Uint64Range(1, 4).Draw(t, "campaign"), Day: store.Day(rapid.Int32().Draw(t, "day"))}
				must(t, s.SetMark(ctx, mark))
				m.marks[mark.Campaign] = mark.Day
			case 2:
				campaign := rapid.Uint64Range(1, 4).Draw(t, "campaign")
				mark := store.Mark{Campaign: campaign, Day: m.marks[campaign] + store.Day(rapid.IntRange(0, 1).Draw(t, "another day"))}
				must(t, s.ClearMark(ctx, mark))
				if day, ok := m.marks[campaign]; ok && day == mark.Day {
					delete(m.marks, campaign)
				}
			default:
				var events []store.Event
				for _, n := range rapid.SliceOfN(rapid.Uint64Range(0, 500), 0, 20).Draw(t, "events") {
					events = append(events, EventOf(n, int(n%100)))
				}
				got, err := s.Add(ctx, events)
				must(t, err)
				if want := m.add(events); !slices.Equal(got, want) {
					t.Fatalf("%v, want %v", got, want)
				}
			}
		}
		m.compare(t, ctx, rapid.SampledFrom([]store.Store{a, b}).Draw(t, "reader"), store.Day(19675+rapid.IntRange(-1, 3).Draw(t, "from")))
	})
}

func (m *model) compare(t *rapid.T, ctx context.Context, s store.Store, from store.Day) {
	for _, campaigns := range [][]uint64{nil, {2}, {1, 3, 99}} {
		got, err := s.Sums(ctx, from, campaigns...)
		must(t, err)
		if want := m.sums(from, campaigns); !slices.Equal(got, want) {
			t.Fatalf("sums of %v: %v, want %v", campaigns, got, want)
		}
	}
	q := store.Query{By: rapid.SampledFrom([]store.Grouping{store.ByCampaign, store.ByKeyword, store.ByQuery, store.ByPlace}).Draw(t, "by"), Daily: rapid.Bool().Draw(t, "daily"),
		From: from, To: from + store.Day(rapid.IntRange(0, 3).Draw(t, "days")), Advertiser: rapid.Uint64Range(0, 2).Draw(t, "of")}
	if got, want := reported(t, ctx, s, q), m.report(q); !slices.Equal(got, want) {
		t.Fatalf("report %+v: %v, want %v", q, got, want)
	}
	got, err := s.Marks(ctx)
	must(t, err)
	marks := make(map[uint64]store.Day)
	for _, mark := range got {
		marks[mark.Campaign] = mark.Day
	}
	if len(got) != len(m.marks) || !reflect.DeepEqual(marks, m.marks) {
		t.Fatalf("marks %v, want %v", got, m.marks)
	}
}

// once tests that overlapping batches that several goroutines add at once count each event once.
func once(t *testing.T, a, b store.Store) {
	const events, workers, batch = 600, 8, 50
	var mu sync.Mutex
	counted := make(map[int]int)
	var all sync.WaitGroup
	for w := range workers {
		all.Go(func() {
			s := []store.Store{a, b}[w%2]
			order := rand.Perm(events)
			for part := range slices.Chunk(order, batch) {
				list := make([]store.Event, len(part))
				for i, n := range part {
					list[i] = EventOf(uint64(n), n%7)
				}
				out, err := s.Add(t.Context(), list)
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				for i, n := range part {
					if out[i] == store.Counted {
						counted[n]++
					}
				}
				mu.Unlock()
			}
		})
	}
	all.Wait()
	m := newModel()
	for n := range events {
		if counted[n] != 1 {
			t.Errorf("event %d was counted %d times", n, counted[n])
		}
		m.add([]store.Event{EventOf(uint64(n), n%7)})
	}
	got, err := b.Sums(t.Context(), 0)
	must(t, err)
	if want := m.sums(19675, nil); !reflect.DeepEqual(got, want) {
		t.Errorf("sums %v, want %v", got, want)
	}
}

// refused tests that a batch with an impossible value is rejected as a whole.
func refused(t *testing.T, a, _ store.Store) {
	good := EventOf(1, 0)
	for name, change := range map[string]func(*store.Event){
		"kind": func(e *store.Event) { e.Kind = 3 }, "no kind": func(e *store.Event) { e.Kind = 0 },
		"price": func(e *store.Event) { e.Token.Price = store.MaxPrice + 1 }, "campaign": func(e *store.Event) { e.Token.Campaign = 1 << 63 },
		"advertiser": func(e *store.Event) { e.Token.Advertiser = 1 << 63 }, "keyword": func(e *store.Event) { e.Token.Keyword = 1 << 63 },
		"ad": func(e *store.Event) { e.Token.Ad = 1 << 63 },
	} {
		bad := EventOf(2, 0)
		change(&bad)
		if _, err := a.Add(t.Context(), []store.Event{good, bad}); !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := a.Add(t.Context(), make([]store.Event, store.MaxEvents+1)); !fault.Is(err, fault.Invalid) {
		t.Error(err)
	}
	if sums, err := a.Sums(t.Context(), 0); err != nil || len(sums) > 0 {
		t.Errorf("%v, %v", sums, err)
	}
}

// cancelled tests that a call whose context has ended fails, and that the store still works.
func cancelled(t *testing.T, a, b store.Store) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	list := []store.Event{EventOf(1, 0)}
	if _, err := a.Add(ctx, list); err == nil {
		t.Error("no error")
	}
	if _, err := a.Sums(ctx, 0); err == nil {
		t.Error("no error of sums")
	}
	for _, s := range []store.Store{a, b} {
		_, err := s.Add(t.Context(), list)
		must(t, err)
		must(t, s.Health(t.Context()))
	}
	if sums, err := b.Sums(t.Context(), 0); err != nil || len(sums) != 1 || sums[0].Impressions+sums[0].Clicks != 1 {
		t.Errorf("%v, %v", sums, err)
	}
}

// forgotten tests that an event from before the horizon is never counted again, although its id is gone,
// and not even if the clock of the process that folds goes back.
func forgotten(t *testing.T, a, b store.Store) {
	var list []store.Event
	for n := range 10 {
		list = append(list, EventOf(uint64(n), n))
	}
	_, err := a.Add(t.Context(), list)
	must(t, err)
	cut := start.Add(6 * time.Second)
	for _, want := range []int{4, 2, 0} {
		n, err := b.Forget(t.Context(), cut, 4)
		if err != nil || n != want {
			t.Fatalf("%d removed, %v, want %d", n, err, want)
		}
	}
	if n, err := b.Forget(t.Context(), cut.Add(-time.Hour), 100); n != 0 || err != nil {
		t.Fatalf("%d, %v", n, err)
	}
	before, err := b.Sums(t.Context(), 0)
	must(t, err)
	out, err := a.Add(t.Context(), list)
	must(t, err)
	for n, o := range out {
		if want := []store.Outcome{store.Forgotten, store.Duplicate}[n/6]; o != want {
			t.Errorf("event %d: %v, want %v", n, o, want)
		}
	}
	if after, err := a.Sums(t.Context(), 0); err != nil || !reflect.DeepEqual(before, after) {
		t.Errorf("sums %v, then %v, %v", before, after, err)
	}
}

// largest tests that a batch of the largest size is added as a whole.
func largest(t *testing.T, a, b store.Store) {
	list := make([]store.Event, store.MaxEvents)
	for n := range list {
		list[n] = EventOf(uint64(n), n%3600)
		list[n].Token.Price, list[n].Token.Campaign, list[n].Kind, list[n].Day = store.MaxPrice, 7, store.Click, 1
	}
	out, err := a.Add(t.Context(), list)
	if err != nil || slices.ContainsFunc(out, func(o store.Outcome) bool { return o != store.Counted }) {
		t.Fatal(err)
	}
	want := []store.Sum{{Campaign: 7, Day: 1, Clicks: store.MaxEvents, Spend: store.MaxEvents * store.MaxPrice}}
	if sums, err := b.Sums(t.Context(), 1); err != nil || !reflect.DeepEqual(sums, want) {
		t.Errorf("%v, %v", sums, err)
	}
}
