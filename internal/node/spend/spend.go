// Package spend reads what campaigns have spent today from the database of events, for those who look
// at their data. Goals: a database of events that is away keeps nobody from that. Non-goals: budgets, which
// collectors watch; reports.
package spend

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"adshard/backend"
	"adshard/budget"
	"adshard/events/store"
	"adshard/internal/node/database"
)

// patience is how long spend is waited for: it is beside what was asked for.
const patience = time.Second

// Reader reads spend. It opens the database of events when somebody asks first. Close it.
type Reader struct {
	// URL is that of the database of events.
	URL string
	Now func() time.Time
	Log *slog.Logger

	mu      sync.Mutex
	events  store.Store // nil: it is not open; under mu
	failing bool        // the log says so; under mu
	closed  bool        // under mu
}

// Today returns what campaigns have spent on the present day of their advertisers, in micros. One that has spent nothing is
// there with 0; nil: it cannot be known now.
func (r *Reader) Today(ctx context.Context, s backend.Snapshot, list []*backend.Campaign) map[uint64]uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	out, err := r.today(ctx, s, list)
	if failing := err != nil; failing != r.failing {
		r.failing = failing
		if failing {
			r.Log.Warn("what campaigns have spent cannot be read, and is not shown", "err", err)
		}
	}
	return out
}

func (r *Reader) today(ctx context.Context, s backend.Snapshot, list []*backend.Campaign) (map[uint64]uint64, error) {
	if r.events == nil {
		e, err := database.OpenEvents(ctx, r.URL)
		if err != nil {
			return nil, err
		}
		r.events = e
	}
	today, err := r.days(ctx, s, list)
	if err != nil {
		return nil, err
	}
	out := make(map[uint64]uint64, len(list))
	since, ids := store.Day(1<<31-1), make([]uint64, 0, len(list))
	for _, c := range list {
		out[c.ID], ids = 0, append(ids, c.ID)
		since = min(since, today[c.AdvertiserID])
	}
	if len(ids) == 0 { // not all of them
		return out, nil
	}
	sums, err := r.events.Sums(ctx, since, ids...)
	if err != nil {
		return nil, err
	}
	day := make(map[uint64]store.Day, len(list))
	for _, c := range list {
		day[c.ID] = today[c.AdvertiserID]
	}
	for _, x := range sums {
		if x.Day == day[x.Campaign] {
			out[x.Campaign] = x.Spend
		}
	}
	return out, nil
}

// days returns the present day of the advertisers of campaigns.
func (r *Reader) days(ctx context.Context, s backend.Snapshot, list []*backend.Campaign) (map[uint64]store.Day, error) {
	zones := make(map[uint64]bool)
	var ids []uint64
	for _, c := range list {
		if !zones[c.AdvertiserID] {
			zones[c.AdvertiserID], ids = true, append(ids, c.AdvertiserID)
		}
	}
	out := make(map[uint64]store.Day)
	if len(ids) == 0 {
		return out, nil
	}
	advertisers, err := s.Advertisers(ctx, ids)
	if err != nil {
		return nil, err
	}
	for _, a := range advertisers {
		zone, err := backend.LoadZone(a.TimeZone)
		if err != nil {
			zone = time.UTC // as events count
		}
		out[a.ID] = store.DayOf(budget.DayOf(r.Now(), zone).Date)
	}
	return out, nil
}

// Close closes the database of events.
func (r *Reader) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	if r.events == nil {
		return nil
	}
	return r.events.Close()
}
