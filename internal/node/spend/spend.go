// Package spend reads from the database of events what campaigns have spent today, for people who look at their data.
// Goals: callers do not suffer while the database of events is away. Non-goals: budgets, which collectors watch; reports.
package spend

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"adshard/backend"
	"adshard/budget"
	"adshard/events/store"
	"adshard/fault"
	"adshard/internal/node/database"
	"adshard/targeting/zone"
)

const (
	// patience is how long a call waits for spend, which is only an addition to its answer. Half of it is for the backend
	// database.
	patience = time.Second
	// pause is the time after a failure before the database of events is asked again.
	pause = 5 * time.Second
)

// Reader reads spend. It opens the database of events at the first call, and never changes it. Call Close when done.
type Reader struct {
	// URL is the URL of the database of events.
	URL string
	// Named returns the id of the database of events that is in use, or "" if none is named. Spend from any other database
	// is not shown. If Named is nil, the id is not checked.
	Named func(ctx context.Context) (string, error)
	Now   func() time.Time
	Log   *slog.Logger

	mu      sync.Mutex
	events  store.Reader  // nil if it is not open; under mu
	opening chan struct{} // closed when the call that opens events has ended; nil if there is no such call; under mu
	failing bool          // the last call failed, and that has been logged; under mu
	again   time.Time     // while calls fail, when the next one is made; under mu
	trying  bool          // while calls fail, one is under way; under mu
	closed  bool          // under mu
	leaving sync.WaitGroup
}

// Today returns what campaigns have spent on the present day of their advertisers, in micros. A campaign that has spent
// nothing is in the map with 0; one whose spend cannot be known at present is missing. It takes at most a second, and
// almost no time while the database of events is away.
func (r *Reader) Today(ctx context.Context, s backend.Snapshot, list []*backend.Campaign) map[uint64]uint64 {
	if !r.begin() {
		return nil
	}
	reading, cancel := context.WithTimeout(ctx, patience/2)
	defer cancel()
	today, err := r.days(reading, s, list)
	if err != nil || len(today) == 0 {
		r.end(nil, false) // no call to the database was made
		if err != nil && reading.Err() == nil {
			r.Log.Warn("what campaigns have spent is not shown, since their advertisers cannot be read", "err", err)
		}
		return nil
	}
	asking, cancel := context.WithTimeout(ctx, patience/2) // with a time limit of its own, by which the database of events is judged
	defer cancel()
	out, err := r.today(asking, today, list)
	r.end(err, err == nil || ctx.Err() == nil)
	return out
}

// begin reports whether a call may ask the database of events. While that fails, one call may ask after each pause. A call
// that may ask must call end afterwards.
func (r *Reader) begin() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed || r.failing && (r.trying || r.Now().Before(r.again)) {
		return false
	}
	r.trying = r.failing
	return true
}

// end records the outcome of a call that has asked. If `judged` is false, the outcome says nothing about the database of
// events.
func (r *Reader) end(err error, judged bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.trying = false
	if !judged || r.closed {
		return
	}
	if err != nil {
		r.again = r.Now().Add(pause)
	}
	if failing := err != nil; failing != r.failing {
		r.failing = failing
		if failing {
			r.Log.Warn("what campaigns have spent cannot be read, and is not shown", "err", err)
		} else {
			r.Log.Info("what campaigns have spent can be read again")
		}
	}
}

// today returns what campaigns have spent on the days of their advertisers.
func (r *Reader) today(ctx context.Context, today map[uint64]store.Day, list []*backend.Campaign) (map[uint64]uint64, error) {
	out, day := make(map[uint64]uint64, len(list)), make(map[uint64]store.Day, len(list))
	since, ids := store.Day(1<<31-1), make([]uint64, 0, len(list))
	for _, c := range list {
		if d, ok := today[c.AdvertiserID]; ok {
			out[c.ID], day[c.ID], ids = 0, d, append(ids, c.ID)
			since = min(since, d)
		}
	}
	if len(ids) == 0 { // the store would take an empty list to mean all
		return out, nil
	}
	sums, err := r.sums(ctx, since, ids)
	if err != nil {
		return nil, err
	}
	for _, x := range sums {
		if x.Day == day[x.Campaign] {
			out[x.Campaign] = x.Spend
		}
	}
	return out, nil
}

// sums reads sums. If an open database fails, it is opened once more, since its file may have been replaced.
func (r *Reader) sums(ctx context.Context, since store.Day, ids []uint64) ([]store.Sum, error) {
	for {
		e, isNew, err := r.open(ctx)
		if err != nil {
			return nil, err
		}
		var sums []store.Sum
		if err = r.check(ctx, e); err == nil {
			sums, err = e.Sums(ctx, since, ids...)
		}
		if err == nil || ctx.Err() != nil || fault.Is(err, fault.Conflict) {
			return sums, err
		}
		r.drop(e)
		if isNew {
			return nil, err
		}
	}
}

// check returns an error if another database of events is in use.
func (r *Reader) check(ctx context.Context, e store.Reader) error {
	if r.Named == nil {
		return nil
	}
	name, err := r.Named(ctx)
	if err != nil || name == "" {
		return err
	}
	own, err := e.ID(ctx)
	if err == nil && own != name {
		err = fault.Newf(fault.Conflict, "spend", "the database of events here is %.40s, and %.40s counts: set `events` of the balancer to that of the collectors", own, name)
	}
	return err
}

// open returns the database of events. `isNew` reports whether this call has opened it. If another call is opening it,
// open waits for that one.
func (r *Reader) open(ctx context.Context) (e store.Reader, isNew bool, err error) {
	for {
		r.mu.Lock()
		switch {
		case r.closed:
			r.mu.Unlock()
			return nil, false, errClosed()
		case r.events != nil:
			defer r.mu.Unlock()
			return r.events, false, nil
		case r.opening == nil:
			r.opening = make(chan struct{})
			r.mu.Unlock()
			e, err = database.OpenEventReader(ctx, r.URL)
			if r.opened(e, err) && err == nil {
				err = errors.Join(errClosed(), e.Close())
			}
			return e, true, err
		}
		other := r.opening
		r.mu.Unlock()
		select {
		case <-other:
		case <-ctx.Done():
			return nil, false, context.Cause(ctx)
		}
	}
}

// opened keeps the database that was opened, and lets the calls go on that wait for it. It reports whether the reader was
// closed meanwhile.
func (r *Reader) opened(e store.Reader, err error) (closed bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	close(r.opening)
	r.opening = nil
	if err == nil && !r.closed {
		r.events = e
	}
	return r.closed
}

func errClosed() error { return fault.Newf(fault.Unavailable, "spend", "the program ends") }

// drop closes a database that has failed, unless another call has dropped it already.
func (r *Reader) drop(e store.Reader) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.events == e {
		r.events = nil
		r.leave(e)
	}
}

// leave closes a database in the background, which waits for calls that still use it. The caller holds mu.
func (r *Reader) leave(e store.Reader) {
	r.leaving.Go(func() { _ = e.Close() }) // nothing was written
}

// days returns the present day of the campaigns' advertisers, except damaged ones.
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
	advertisers, err := readable(ctx, s, ids)
	if err != nil {
		return nil, err
	}
	for _, a := range advertisers {
		day, err := zone.Load(a.TimeZone)
		if err != nil {
			day = time.UTC // as for the counting of events
		}
		out[a.ID] = store.DayOf(budget.DayOf(r.Now(), day).Date)
	}
	return out, nil
}

// readable returns the advertisers that are not damaged.
func readable(ctx context.Context, s backend.Snapshot, ids []uint64) ([]*backend.Advertiser, error) {
	all, err := s.Advertisers(ctx, ids)
	if !fault.Is(err, fault.Corrupt) {
		return all, err
	}
	for _, id := range ids {
		one, err := s.Advertisers(ctx, []uint64{id})
		switch {
		case err == nil:
			all = append(all, one...)
		case !fault.Is(err, fault.Corrupt):
			return nil, err
		}
	}
	return all, nil
}

// Close closes the database of events after the calls under way have ended.
func (r *Reader) Close() error {
	r.mu.Lock()
	if !r.closed && r.events != nil {
		r.leave(r.events)
		r.events = nil
	}
	r.closed = true
	r.mu.Unlock()
	r.leaving.Wait()
	return nil
}
