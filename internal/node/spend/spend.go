// Package spend reads what campaigns have spent today from the database of events, for those who look at their
// data. Goals: this also works while the database of events is away. Non-goals: budgets, which collectors
// watch; reports.
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
	// patience is how long a call waits for spend, which is only an extra in its answer. One half is for the
	// backend database.
	patience = time.Second
	// pause is the time after a failure before the database of events is asked again.
	pause = 5 * time.Second
)

// Reader reads spend. It opens the database of events at the first question, and never changes it. Close it.
type Reader struct {
	// URL is that of the database of events.
	URL string
	// Named returns the id of the database of events that counts: of another one nothing is shown, or "" if there is
	// none named. nil if unknown.
	Named func(ctx context.Context) (string, error)
	Now   func() time.Time
	Log   *slog.Logger

	mu      sync.Mutex
	events  store.Reader  // nil: it is not open; under mu
	opening chan struct{} // closed when the call that opens it has ended, or nil if there is none; under mu
	failing bool          // the last call failed, and the log says so; under mu
	again   time.Time     // while it fails, when it is asked again; under mu
	trying  bool          // while it fails, a call asks; under mu
	closed  bool          // under mu
	leaving sync.WaitGroup
}

// Today returns what campaigns have spent on the present day of their advertisers, in micros. One that has spent
// nothing is there with 0; one whose spend cannot be known now is missing. It takes a second at most, and almost no
// time while the database of events is away.
func (r *Reader) Today(ctx context.Context, s backend.Snapshot, list []*backend.Campaign) map[uint64]uint64 {
	if !r.begin() {
		return nil
	}
	reading, cancel := context.WithTimeout(ctx, patience/2)
	defer cancel()
	today, err := r.days(reading, s, list)
	if err != nil || len(today) == 0 {
		r.end(nil, false) // there was no question
		if err != nil && reading.Err() == nil {
			r.Log.Warn("what campaigns have spent is not shown, since their advertisers cannot be read", "err", err)
		}
		return nil
	}
	asking, cancel := context.WithTimeout(ctx, patience/2) // its own: the database of events is judged by it
	defer cancel()
	out, err := r.today(asking, today, list)
	r.end(err, err == nil || ctx.Err() == nil)
	return out
}

// begin reports whether a call may ask: while the database of events fails, one may after each pause. Each call
// that may ask calls end afterwards.
func (r *Reader) begin() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed || r.failing && (r.trying || r.Now().Before(r.again)) {
		return false
	}
	r.trying = r.failing
	return true
}

// end notes how a call that has asked ended; without judged it says nothing about the database of events.
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
	if len(ids) == 0 { // the store would take it for all
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

// sums reads sums. A database that was open and fails is opened anew, once: its file may have been replaced.
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

// check fails if another database of events counts.
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

// open returns the database of events; isNew: this call has opened it. Calls wait for the one that opens it.
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

// opened keeps what was opened, and lets those go on that wait for it. It reports whether the reader was closed meanwhile.
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

// drop closes a database that has failed, unless another call has already.
func (r *Reader) drop(e store.Reader) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.events == e {
		r.events = nil
		r.leave(e)
	}
}

// leave closes a database; that waits for calls that still use it. The caller holds mu.
func (r *Reader) leave(e store.Reader) {
	r.leaving.Go(func() { _ = e.Close() }) // it only read
}

// days returns the present day of the advertisers of campaigns, except damaged ones.
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
			day = time.UTC // as events count
		}
		out[a.ID] = store.DayOf(budget.DayOf(r.Now(), day).Date)
	}
	return out, nil
}

// readable returns advertisers but those that are damaged.
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

// Close closes the database of events, when the calls that are under way have ended.
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
