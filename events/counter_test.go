package events_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"adshard/events"
	"adshard/events/store"
	"adshard/events/store/sqlite"
	"adshard/events/token"
	"adshard/fault"
)

var start = time.UnixMilli(1_700_000_000_000)

// noZones knows no advertisers, so all of them have UTC.
type noZones struct{}

func (noZones) Zones(context.Context, []uint64) (map[uint64]*time.Location, error) { return nil, nil }

// utc returns the day of a time in UTC.
func utc(_ uint64, at time.Time) store.Day { return store.Day(at.Unix() / 86400) }

// memoryControl is a control state in memory.
type memoryControl struct {
	mu     sync.Mutex
	values map[string][]byte
	away   error
	loads  int
}

func (c *memoryControl) LoadControl(_ context.Context, key string) ([]byte, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.loads++
	return c.values[key], c.away
}

func (c *memoryControl) SaveControlIf(_ context.Context, key string, value []byte, guard string, was []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.away != nil:
		return c.away
	case !bytes.Equal(c.values[guard], was):
		return fault.Newf(fault.Conflict, "test", "changed")
	}
	c.values[key] = value
	return nil
}

func newControl() *memoryControl { return &memoryControl{values: make(map[string][]byte)} }

// clock is the clock of a process.
type clock struct{ at time.Time }

func (c *clock) now() time.Time { return c.at }

func open(t testing.TB, path string) store.Store {
	t.Helper()
	s, err := sqlite.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// collector is a Counter with a clock of its own.
type collector struct {
	events.Counter
	clock *clock
}

func newCollector(t testing.TB, s store.Store, c events.Control) *collector {
	t.Helper()
	k := &clock{start}
	keys := events.NewKeys(c, "cluster", k.now)
	if err := keys.Rotate(t.Context()); err != nil {
		t.Fatal(err)
	}
	return &collector{events.Counter{Store: s, Keys: keys, Zones: noZones{}, Now: k.now}, k}
}

// ringOf returns the keys that a master has.
func ringOf(t testing.TB, c *memoryControl) *token.Ring {
	t.Helper()
	r, err := token.ParseRing(c.values["cluster"+events.KeysKey])
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func textOf(r *token.Ring, v token.Token) string {
	b, _ := r.Append(nil, &v)
	return string(b)
}

// oracle computes what becomes of each event, from all events before.
type oracle struct {
	counted map[string]bool
	horizon time.Time
	newest  time.Time // the newest counted event
	sums    map[store.SumKey]store.Sum
}

func (o *oracle) count(v token.Token, kind store.Kind, text string, now time.Time) events.Outcome {
	key := fmt.Sprint(kind, text)
	switch {
	case now.Sub(v.Served) > time.Hour:
		return events.Late
	case v.Served.Sub(now) > time.Minute:
		return events.Future
	case v.Served.Unix() < o.horizon.Unix():
		return events.Late
	case o.counted[key]:
		return events.Duplicate
	}
	o.counted[key] = true
	o.newest = latest(o.newest, v.Served)
	store.Include(o.sums, &store.Event{Kind: kind, Day: utc(0, v.Served), Token: v})
	return events.Counted
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func earliest(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// TestAsOracle tests that two collectors whose clocks differ, jump ahead and go back count what
// the oracle counts: each event once, whichever of them it is sent to and however often.
func TestAsOracle(t *testing.T) {
	path := filepath.Join(t.TempDir(), "events.db")
	round := uint64(0)
	first, second := open(t, path), open(t, path)
	o := &oracle{counted: make(map[string]bool), sums: make(map[store.SumKey]store.Sum)}
	rapid.Check(t, func(rt *rapid.T) {
		c := newControl()
		both := []*collector{newCollector(t, first, c), newCollector(t, second, c)}
		ring := ringOf(t, c)
		now := start.Add(time.Duration(round) * time.Minute)
		for range rapid.IntRange(1, 12).Draw(rt, "steps") {
			now = now.Add(time.Duration(rapid.IntRange(-5, 20).Draw(rt, "minutes")) * time.Minute)
			at := rapid.SampledFrom(both).Draw(rt, "collector")
			at.clock.at = now.Add(time.Duration(rapid.IntRange(-90, 90).Draw(rt, "ahead")) * time.Second)
			if rapid.IntRange(0, 9).Draw(rt, "forget") == 0 {
				if err := at.Forget(t.Context()); err != nil {
					rt.Fatal(err)
				}
				if h := at.clock.at.Add(-2 * time.Hour); h.After(o.horizon) {
					o.horizon = latest(o.horizon, earliest(h, o.newest.Truncate(time.Second).Add(time.Second)))
				}
			}
			var given []events.Given
			var want []events.Outcome
			for range rapid.IntRange(0, 10).Draw(rt, "events") {
				v := token.Token{Served: now.Add(-time.Duration(rapid.IntRange(-3, 70).Draw(rt, "age")) * time.Minute).Truncate(time.Millisecond),
					Nonce: round<<8 | rapid.Uint64Range(0, 3).Draw(rt, "nonce"), Campaign: rapid.Uint64Range(1, 3).Draw(rt, "campaign"), Price: 10_000}
				kind := rapid.SampledFrom([]store.Kind{store.Impression, store.Click}).Draw(rt, "kind")
				text := textOf(ring, v)
				given = append(given, events.Given{Kind: kind, Token: text})
				want = append(want, o.count(v, kind, text, at.clock.at))
			}
			got, err := at.Count(t.Context(), given)
			if err != nil || !slices.Equal(got, want) {
				rt.Fatalf("%v, %v, want %v", got, err, want)
			}
		}
		round++
		compareSums(rt, first, o.sums)
	})
}

func compareSums(t *rapid.T, s store.Store, want map[store.SumKey]store.Sum) {
	sums, err := s.Sums(context.Background(), 0)
	got := make(map[store.SumKey]store.Sum)
	for _, x := range sums {
		got[store.SumKey{Campaign: x.Campaign, Day: x.Day}] = x
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Fatalf("sums %v, %v, want %v", got, err, want)
	}
}

// TestNeverTwice tests that an event is not counted again if its id was removed and the clock then
// goes back to a time at which its token was valid.
func TestNeverTwice(t *testing.T) {
	c := newControl()
	a := newCollector(t, open(t, filepath.Join(t.TempDir(), "events.db")), c)
	given := []events.Given{{Kind: store.Click, Token: textOf(ringOf(t, c), token.Token{Served: start, Campaign: 1, Price: 10_000})}}
	outcome := func(at time.Time, want events.Outcome) {
		t.Helper()
		a.clock.at = at
		if got, err := a.Count(t.Context(), given); err != nil || got[0] != want {
			t.Fatalf("%v, %v, want %v", got, err, want)
		}
	}
	outcome(start, events.Counted)
	outcome(start.Add(time.Hour), events.Duplicate)
	outcome(start.Add(time.Hour+time.Millisecond), events.Late)
	outcome(start.Add(-time.Minute-time.Millisecond), events.Future)
	a.clock.at = start.Add(3 * time.Hour) // by mistake
	if err := a.Forget(t.Context()); err != nil {
		t.Fatal(err)
	}
	outcome(start.Add(time.Second), events.Late)
}

// TestClockOfYearsAhead tests that a process whose clock was years ahead for a while does not make
// others reject tokens served from then on.
func TestClockOfYearsAhead(t *testing.T) {
	c := newControl()
	a := newCollector(t, open(t, filepath.Join(t.TempDir(), "events.db")), c)
	count := func(served time.Time, want events.Outcome) {
		t.Helper()
		given := []events.Given{{Kind: store.Click, Token: textOf(ringOf(t, c), token.Token{Served: served, Campaign: 1, Price: 10_000})}}
		if got, err := a.Count(t.Context(), given); err != nil || got[0] != want {
			t.Fatalf("%v, %v, want %v", got, err, want)
		}
	}
	for i := range 3 {
		served := start.Add(time.Duration(i) * time.Minute)
		a.clock.at = served
		count(served, events.Counted)
		a.clock.at = start.AddDate(10, 0, 0)
		if err := a.Forget(t.Context()); err != nil {
			t.Fatal(err)
		}
		a.clock.at = served
		count(served, events.Late)
	}
}

// TestRefused tests that texts that are not tokens of this cluster, or that no auction could have
// signed, are rejected.
func TestRefused(t *testing.T) {
	c, other := newControl(), newControl()
	a := newCollector(t, open(t, filepath.Join(t.TempDir(), "events.db")), c)
	newCollector(t, open(t, filepath.Join(t.TempDir(), "other.db")), other)
	good := textOf(ringOf(t, c), token.Token{Served: start, Campaign: 1})
	for text, want := range map[string]events.Outcome{
		"": events.Malformed, "x": events.Malformed, good + "A": events.Malformed, good + "\n": events.Malformed,
		textOf(ringOf(t, other), token.Token{Served: start}):                        events.Forged,
		textOf(ringOf(t, c), token.Token{Served: start, Price: store.MaxPrice + 1}): events.Forged,
		textOf(ringOf(t, c), token.Token{Served: start, Campaign: 1 << 63}):         events.Forged,
	} {
		got, err := a.Count(t.Context(), []events.Given{{Kind: store.Click, Token: text}, {Kind: store.Impression, Token: good}})
		if err != nil || got[0] != want || got[1] == events.Malformed || got[1] == events.Forged {
			t.Errorf("%q: %v, %v, want %v", text, got, err, want)
		}
	}
}

// TestKeysAway tests that a token whose key is unknown is neither counted nor called forged while
// the keys cannot be read. Then they are read again, but not for each such token.
func TestKeysAway(t *testing.T) {
	c := newControl()
	a := newCollector(t, open(t, filepath.Join(t.TempDir(), "events.db")), c)
	secret := bytes.Repeat([]byte{9}, token.SecretSize)
	next, err := token.NewRing(append(ringOf(t, c).Keys(), token.Key{Number: 2, From: start, Secret: secret}))
	if err != nil {
		t.Fatal(err)
	}
	given := []events.Given{{Kind: store.Click, Token: textOf(next, token.Token{Served: start.Add(time.Minute)})}}
	c.values["cluster"+events.KeysKey] = next.Encode()
	c.away = errors.New("away")
	a.clock.at = start.Add(time.Minute)
	if _, err := a.Count(t.Context(), given); !errors.Is(err, c.away) {
		t.Fatalf("%v", err)
	}
	c.away = nil
	if got, err := a.Count(t.Context(), given); err != nil || got[0] != events.Counted {
		t.Fatalf("%v, %v", got, err)
	}
	third, err := token.NewRing([]token.Key{{Number: 3, From: start, Secret: secret}})
	if err != nil {
		t.Fatal(err)
	}
	before := c.loads
	unknown := events.Given{Kind: store.Click, Token: textOf(third, token.Token{Served: start})}
	if got, err := a.Count(t.Context(), slices.Repeat([]events.Given{unknown}, 1000)); err != nil || got[999] != events.Forged {
		t.Fatalf("%v, %v", got, err)
	}
	if c.loads > before+1 {
		t.Errorf("the keys were read %d times", c.loads-before)
	}
}

// TestKeysOfSeveral tests that processes that start at the same time agree on the same keys.
func TestKeysOfSeveral(t *testing.T) {
	c := newControl()
	var all sync.WaitGroup
	rings := make([]*events.Keys, 8)
	for i := range rings {
		rings[i] = events.NewKeys(c, "cluster", func() time.Time { return start })
		all.Go(func() {
			if err := rings[i].Rotate(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	text := []byte(textOf(ringOf(t, c), token.Token{Served: start}))
	for _, k := range rings {
		if _, _, err := k.Open(t.Context(), text); err != nil {
			t.Error(err)
		}
	}
}
