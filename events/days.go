package events

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"adshard/budget"
	"adshard/events/store"
)

// Zones returns the time zones in which the days of advertisers begin.
type Zones interface {
	// Zones returns the zones of advertisers. It leaves out advertisers that do not exist.
	Zones(ctx context.Context, advertisers []uint64) (map[uint64]*time.Location, error)
}

// Limits of CachedZones.
const (
	// ZonesLive is how long a zone is used before it is read again.
	ZonesLive = time.Minute
	// MaxZones is the greatest number of zones that are kept; they take some megabytes.
	MaxZones = 1 << 16
)

// CachedZones caches the zones of From. If From fails, it goes on using cached zones that are
// past their time. It is safe for use by several goroutines.
type CachedZones struct {
	From Zones
	Now  func() time.Time

	mu    sync.Mutex
	known map[uint64]knownZone // guarded by mu
}

// knownZone is the zone of an advertiser, and when it was read. The zone is nil if there was no
// such advertiser.
type knownZone struct {
	zone *time.Location
	read time.Time
}

// Zones implements Zones.
func (c *CachedZones) Zones(ctx context.Context, advertisers []uint64) (map[uint64]*time.Location, error) {
	out := make(map[uint64]*time.Location, len(advertisers))
	now := c.Now()
	stale, missing := c.look(advertisers, now, out)
	if len(stale) == 0 {
		return out, nil
	}
	found, err := c.From.Zones(ctx, stale)
	if err != nil {
		if missing {
			return nil, err
		}
		return out, nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known == nil || len(c.known)+len(stale) > MaxZones {
		c.known = make(map[uint64]knownZone)
	}
	for _, a := range stale {
		z := found[a]
		if c.known[a] = (knownZone{z, now}); z == nil {
			delete(out, a)
		} else {
			out[a] = z
		}
	}
	return out, nil
}

// look adds the cached zones to out, and returns the advertisers whose zones must be read again.
// missing says that the zones of some of them are not cached.
func (c *CachedZones) look(advertisers []uint64, now time.Time, out map[uint64]*time.Location) (stale []uint64, missing bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, a := range advertisers {
		k, ok := c.known[a]
		if k.zone != nil {
			out[a] = k.zone
		}
		if age := now.Sub(k.read); !ok || age < 0 || age >= ZonesLive {
			stale = append(stale, a)
		}
		missing = missing || !ok
	}
	return stale, missing
}

// setDays sets the day of each event: the day on which its ad was served, in the advertiser's
// zone, or in UTC if there is no such advertiser.
func setDays(ctx context.Context, z Zones, events []store.Event) error {
	advertisers := make(map[uint64]bool)
	for i := range events {
		advertisers[events[i].Token.Advertiser] = true
	}
	zones, err := z.Zones(ctx, slices.Collect(maps.Keys(advertisers)))
	if err != nil {
		return err
	}
	days := make(map[*time.Location]budget.Day) // the last day of each zone, since most events are of the same day
	for i := range events {
		t := &events[i].Token
		zone := zones[t.Advertiser]
		if zone == nil {
			zone = time.UTC
		}
		day, ok := days[zone]
		if !ok || t.Served.Before(day.Begin) || !t.Served.Before(day.End) {
			day = budget.DayOf(t.Served, zone)
			days[zone] = day
		}
		events[i].Day = number(day)
	}
	return nil
}

// number returns a day as stores have it.
func number(d budget.Day) store.Day { return store.DayOf(d.Date) }

// lately returns a day that is at least one day ago in every time zone.
func lately(now time.Time) store.Day {
	return store.Day(now.Add(-48*time.Hour).Unix() / (24 * 60 * 60))
}
