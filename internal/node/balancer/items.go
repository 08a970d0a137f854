package balancer

import (
	"context"
	"fmt"
	"log/slog"
	"sync"

	"adshard/backend"
	"adshard/balance"
	"adshard/fault"
	"adshard/internal/node/feed"
	"adshard/internal/node/health"
	"adshard/internal/wait"
)

// items holds all items of a database at a position of its log.
type items struct {
	index *balance.Index
	at    backend.Position
	put   int // the number of items added since all were read; their weights are not known
}

// readItems reads all items.
func readItems(ctx context.Context, db backend.Feed, order balance.Order, w feed.Weights) (*items, error) {
	s := &items{index: &balance.Index{}}
	var err error
	if s.at, err = feed.ReadItems(ctx, db, order, w, s.index); err != nil {
		return nil, fmt.Errorf("load the items: %w", err)
	}
	return s, nil
}

// warm keeps the items of the database ready for the time when this host leads.
type warm struct {
	cfg    *Config
	order  balance.Order
	db     backend.Store
	health *health.Tracker
	log    *slog.Logger

	mu  sync.Mutex
	now *items // nil while they are being read; guarded by mu
}

// maxUnweighed bounds the items of unknown weight: when more than one in maxUnweighed has been
// added, all items are read again.
const maxUnweighed = 16

// run reads all items and follows the changes until ctx is done.
func (w *warm) run(ctx context.Context) {
	for ctx.Err() == nil {
		all, err := readItems(ctx, w.db, w.order, w.cfg.Weights)
		if ctx.Err() != nil {
			return
		}
		w.health.Record(health.ReadChanges, err)
		if err != nil {
			w.log.Warn("cannot load the items; trying again", "err", err)
			_ = wait.Sleep(ctx, feed.RetryAfter) // the loop checks ctx
			continue
		}
		w.set(all)
		w.log.Info("warm: items loaded", "items", all.index.Len(), "clock", all.at.Clock)
		if err := w.follow(ctx, all); ctx.Err() == nil && !fault.Is(err, fault.Stale) {
			w.set(nil) // the items are of another history
		}
	}
}

func (w *warm) set(all *items) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = all
}

// items returns the current items, or nil if they have not been read yet. Once run has returned,
// they belong to the caller.
func (w *warm) items() *items {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now
}

// errUnweighed ends follow when too many items were added.
var errUnweighed = fault.Newf(fault.Stale, "balancer", "too many items without a weight")

// follow applies changes to `all` until ctx is done or all items are to be read again.
func (w *warm) follow(ctx context.Context, all *items) error {
	f := feed.Follower{DB: w.db, Order: w.order, Log: w.log, Health: w.health, At: all.at}
	return f.Run(ctx, func(list []balance.Change, at backend.Position) error {
		w.mu.Lock()
		defer w.mu.Unlock()
		for _, c := range list {
			if all.index.Follow(c) {
				all.put++
			}
		}
		all.at = at
		if all.put > all.index.Len()/maxUnweighed+feedSlack {
			return errUnweighed
		}
		return nil
	})
}
