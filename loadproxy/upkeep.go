package loadproxy

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"adshard/barrels"
	"adshard/fault"
	"adshard/internal/wait"
)

// upkeep runs the store's background work while no node data arrive. So the store has one writer at
// a time, and a bucket never waits long.
type upkeep struct {
	store barrels.Store
	log   *slog.Logger
	quiet time.Duration
	late  time.Duration
	slice time.Duration
	// damaged is called when the store cannot be maintained because it is damaged.
	damaged func(error)
	wake    chan struct{}

	writer chan struct{} // full while the store has a writer

	mu      sync.Mutex
	waiting int                // number of buckets that wait to be written. Under mu.
	dirty   time.Time          // since when there is work, or zero if there is none. Under mu.
	applied time.Time          // when the last bucket was written. Under mu.
	stop    context.CancelFunc // ends the work under way, or nil if there is none. Under mu.
}

func newUpkeep(store barrels.Store, cfg Config, log *slog.Logger) *upkeep {
	return &upkeep{store: store, log: log, quiet: cfg.Quiet, late: cfg.Overdue, slice: cfg.Slice,
		wake: make(chan struct{}, 1), writer: make(chan struct{}, 1), dirty: time.Now(), applied: time.Now()}
}

// stepAside stops upkeep and reserves the store for a writer. The writer calls the returned
// function at its end, and says whether it wrote data.
func (u *upkeep) stepAside() func(wrote bool) {
	u.mu.Lock()
	u.waiting++
	if u.stop != nil {
		u.stop()
	}
	u.mu.Unlock()
	u.writer <- struct{}{}
	return func(wrote bool) {
		<-u.writer
		u.written(wrote)
	}
}

// written records that a bucket has been written, which may have left work to do.
func (u *upkeep) written(wrote bool) {
	u.mu.Lock()
	u.waiting--
	u.applied = time.Now()
	if wrote && u.dirty.IsZero() {
		u.dirty = u.applied
	}
	u.mu.Unlock()
	select {
	case u.wake <- struct{}{}:
	default:
	}
}

// run works until ctx is done.
func (u *upkeep) run(ctx context.Context) {
	for ctx.Err() == nil {
		pause, overdue := u.due()
		switch {
		case pause < 0:
			select {
			case <-ctx.Done():
			case <-u.wake:
			}
		case pause > 0:
			_ = wait.Sleep(ctx, pause) // the loop checks ctx
		default:
			u.work(ctx, overdue)
		}
	}
}

// due returns how long to wait before the next work: until woken if wait is below 0, not at all if
// it is 0. overdue says that the work can wait no longer.
func (u *upkeep) due() (wait time.Duration, overdue bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.dirty.IsZero() || u.waiting > 0 { // a waiting bucket wakes it when it is written
		return -1, false
	}
	if time.Since(u.dirty) >= u.late {
		return 0, true
	}
	return max(0, u.quiet-time.Since(u.applied)), false
}

// work maintains the store until a bucket arrives. If the work is overdue, buckets wait for it, but
// it ends after one slice of time.
func (u *upkeep) work(ctx context.Context, overdue bool) {
	u.writer <- struct{}{}
	defer func() { <-u.writer }()
	work, cancel := context.WithCancel(ctx)
	defer cancel()
	if overdue {
		var end context.CancelFunc
		work, end = context.WithTimeout(work, u.slice)
		defer end()
	}
	u.mu.Lock()
	since := u.dirty
	if !overdue {
		u.stop = cancel
		if u.waiting > 0 {
			cancel()
		}
	}
	u.mu.Unlock()
	if work.Err() != nil {
		return
	}

	err := u.store.Maintain(work)

	u.mu.Lock()
	defer u.mu.Unlock()
	u.stop = nil
	switch {
	case err == nil && work.Err() == nil && u.dirty.Equal(since):
		u.dirty = time.Time{}
	case err != nil && work.Err() == nil:
		u.log.Warn("maintenance of the store failed; trying again later", "err", err)
		u.dirty, u.applied = time.Now(), time.Now().Add(u.late)
		if fault.Is(err, fault.Corrupt) {
			u.damaged(err)
		}
	case overdue:
		u.dirty = time.Now()
	}
}
