package collector

import (
	"context"
	"errors"
	"time"

	"adshard/backend"
	"adshard/events"
	"adshard/events/store"
	"adshard/fault"
	"adshard/internal/node/database"
	"adshard/internal/wait"
)

// adoptPause is how long a collector that replaces others waits before it counts, so that each of the others has seen by then
// that it no longer counts.
const adoptPause = 2 * time.Second

// openStore opens the database of events at a URL, which belongs to a backend database. It makes a new one if the backend
// database names none yet, or if `adopt` is set. Errors: fault.NotFound if the named one is missing; fault.Conflict for events of
// another backend database; those of the stores.
func openStore(ctx context.Context, url string, db backend.Store, adopt bool) (store.Store, error) {
	name, err := events.Name(ctx, db)
	if err != nil {
		return nil, err
	}
	if name != "" && !adopt {
		if err := present(ctx, url, name); err != nil {
			return nil, err
		}
	}
	s, err := database.OpenEvents(ctx, url)
	if err != nil {
		return nil, err
	}
	id, err := db.ID(ctx)
	if err == nil {
		err = s.Claim(ctx, id)
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// present returns an error if there are no events at a URL. Other faults show when the events are opened.
func present(ctx context.Context, url, name string) error {
	r, err := database.OpenEventReader(ctx, url)
	if fault.Is(err, fault.NotFound) {
		return events.Missing(name)
	}
	if err != nil {
		return nil
	}
	return r.Close()
}

// name records which database of events is in use. A collector with another database listens, reports why it is not ready, and
// refuses events.
func (c *Collector) name(ctx context.Context, adopt bool, now func() time.Time) (*events.Named, error) {
	own, err := c.store.ID(ctx)
	if err != nil {
		return nil, err
	}
	n := &events.Named{Control: c.db, Own: own, Now: now}
	if adopt {
		before, err := n.Adopt(ctx)
		if err != nil {
			return nil, err
		}
		if before != "" {
			c.log.Warn("from now on this collector's database of events counts, in place of another one; start it without --adopt-events the next time", "own", own, "before", before)
			return n, wait.Sleep(ctx, adoptPause)
		}
		return n, nil
	}
	err = n.Claim(ctx)
	if fault.Is(err, fault.Conflict) {
		c.log.Error("this collector does not count", "err", err)
		err = nil
	}
	return n, err
}
