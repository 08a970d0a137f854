package events_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"testing"
	"time"
	_ "time/tzdata" // the zones below, whatever the machine has

	"adshard/events"
	"adshard/events/store"
	"adshard/events/token"
)

// someZones has the zones of a backend, and counts how often it was asked.
type someZones struct {
	zones map[uint64]*time.Location
	asked int
	away  error
}

func (z *someZones) Zones(_ context.Context, ids []uint64) (map[uint64]*time.Location, error) {
	z.asked++
	out := make(map[uint64]*time.Location)
	for _, id := range ids {
		if z.zones[id] != nil {
			out[id] = z.zones[id]
		}
	}
	return out, z.away
}

func zone(t testing.TB, name string) *time.Location {
	z, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return z
}

// TestDaysOfZones tests that an event counts for the day in its advertiser's zone when the ad
// was served, on days of 23, 24 and 25 hours, or for the day in UTC if the advertiser is
// unknown.
func TestDaysOfZones(t *testing.T) {
	zones := map[uint64]*time.Location{1: zone(t, "Europe/Prague"), 2: zone(t, "America/New_York"), 3: zone(t, "Pacific/Kiritimati"), 4: time.UTC}
	for _, from := range []string{"2026-03-28T00:00:00Z", "2026-10-24T00:00:00Z", "2026-11-23T00:00:00Z"} {
		begin, err := time.Parse(time.RFC3339, from)
		if err != nil {
			t.Fatal(err)
		}
		s, control, k := open(t, filepath.Join(t.TempDir(), "events.db")), newControl(), &clock{begin}
		keys := events.NewKeys(control, "cluster", k.now)
		if err := keys.Rotate(t.Context()); err != nil {
			t.Fatal(err)
		}
		c := events.Counter{Store: s, Keys: keys, Zones: &someZones{zones: zones}, Now: k.now}
		want := make(map[store.SumKey]uint64)
		dice := rand.New(rand.NewPCG(1, 1))
		for n := uint64(0); k.at.Before(begin.Add(50 * time.Hour)); k.at = k.at.Add(20 * time.Minute) {
			if err := keys.Rotate(t.Context()); err != nil {
				t.Fatal(err)
			}
			var given []events.Given
			for a := range uint64(6) { // 0 and 5 are unknown
				n++
				served := k.at.Add(-time.Duration(dice.IntN(3600)) * time.Second)
				given = append(given, events.Given{Kind: store.Click, Token: textOf(ringOf(t, control), token.Token{
					Served: served, Nonce: n, Advertiser: a, Campaign: a + 1, Price: 1, Position: 1})})
				z := zones[a]
				if z == nil {
					z = time.UTC
				}
				date, _ := time.Parse(time.DateOnly, served.In(z).Format(time.DateOnly))
				want[store.SumKey{Campaign: a + 1, Day: store.Day(date.Unix() / 86400)}]++
			}
			if out, err := c.Count(t.Context(), given); err != nil || fmt.Sprint(out) != "[counted counted counted counted counted counted]" {
				t.Fatal(out, err)
			}
		}
		sums, err := s.Sums(t.Context(), 0)
		got := make(map[store.SumKey]uint64)
		for _, x := range sums {
			got[store.SumKey{Campaign: x.Campaign, Day: x.Day}] = x.Clicks
		}
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v, %v, want %v", from, got, err, want)
		}
	}
}

// TestCachedZones tests that zones, and that an advertiser has none, are read once a minute.
// If they cannot be read, known zones are still used, and others are an error. Their number is
// bounded.
func TestCachedZones(t *testing.T) {
	from, k := &someZones{zones: map[uint64]*time.Location{1: time.UTC}}, &clock{start}
	c := &events.CachedZones{From: from, Now: k.now}
	prague := zone(t, "Europe/Prague")
	expect := func(name string, id uint64, want *time.Location, asked int) {
		t.Helper()
		got, err := c.Zones(t.Context(), []uint64{id})
		if err != nil || got[id] != want || from.asked != asked {
			t.Errorf("%s: %v, %v, asked %d times, want %v, %d", name, got, err, from.asked, want, asked)
		}
	}
	expect("first", 1, time.UTC, 1)
	from.zones[1] = prague
	expect("again", 1, time.UTC, 1)
	expect("unknown", 2, nil, 2)
	expect("unknown again", 2, nil, 2)
	k.at = k.at.Add(events.ZonesLive)
	expect("changed", 1, prague, 3)
	from.away = errors.New("away")
	k.at = k.at.Add(events.ZonesLive)
	expect("away", 1, prague, 4)
	if _, err := c.Zones(t.Context(), []uint64{1, 3}); !errors.Is(err, from.away) {
		t.Errorf("of one that is not known: %v", err)
	}
	from.away = nil
	delete(from.zones, 1)
	expect("removed", 1, nil, 6)
	many := make([]uint64, events.MaxZones)
	for i := range many {
		many[i] = uint64(i + 10)
	}
	if _, err := c.Zones(t.Context(), many); err != nil {
		t.Fatal(err)
	}
	expect("forgotten", 1, nil, 8)
}
