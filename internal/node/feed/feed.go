// Package feed reads a database for the state machines of package balance: first all items, then
// the changes.
package feed

import (
	"context"
	"log/slog"
	"time"

	"adshard/backend"
	"adshard/balance"
	"adshard/fault"
	"adshard/internal/node/health"
	"adshard/internal/wait"
)

const (
	// feedBatch is how many changes are read at a time.
	feedBatch = 4096
	// RetryAfter is the pause after a failed call of the database.
	RetryAfter = 200 * time.Millisecond
)

// Follower reads the changes of a database for one state machine.
type Follower struct {
	DB    backend.Store
	Order balance.Order
	Log   *slog.Logger
	// Health records the outcome of each read.
	Health *health.Tracker
	At     backend.Position // of the newest change passed on; only Run uses it after the start
}

// Run passes changes to `take`, with the position of the last one, until ctx is done or `take`
// fails. Errors: fault.Stale if the next changes were compacted away, fault.Conflict if the
// database was restored; after both, the caller must start afresh.
func (f *Follower) Run(ctx context.Context, take func(list []balance.Change, at backend.Position) error) error {
	var complaint wait.Complaint
	for {
		list, err := f.DB.Changes(ctx, f.At, feedBatch)
		if err == nil {
			f.Health.Record(health.ReadChanges, nil) // before a wait that may be long
		}
		switch {
		case fault.Is(err, fault.Stale), fault.Is(err, fault.Conflict):
			return err
		case err == nil && len(list) == 0:
			err = f.DB.Wait(ctx, f.At)
		case err == nil:
			last := list[len(list)-1]
			f.At = backend.Position{Clock: last.Clock, Mark: last.Mark}
			if err := take(Changes(list, f.Order, f.Log), f.At); err != nil {
				return err
			}
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		f.Health.Record(health.ReadChanges, err)
		tell := complaint.Tell(err)
		if err == nil {
			continue
		}
		if tell {
			f.Log.Warn("cannot read the changes; trying again", "err", err)
		}
		if err := wait.Sleep(ctx, RetryAfter); err != nil {
			return err
		}
	}
}

// Changes translates changes of the feed. A change of a parent affects the keys of its advertiser,
// or all keys if the order spreads advertisers.
func Changes(list []backend.Change, order balance.Order, log *slog.Logger) []balance.Change {
	out := make([]balance.Change, 0, len(list))
	for _, c := range list {
		next := balance.Change{Clock: c.Clock, Removed: c.Removed}
		if c.Kind == backend.KindGroup {
			key, err := order.Key(c.AdvertiserID, c.ID)
			if err != nil {
				log.Error("a group cannot be placed and is skipped", "group", c.ID, "err", err)
				continue
			}
			next.Key = key
		} else {
			owner := c.AdvertiserID
			if c.Kind == backend.KindAdvertiser {
				owner = c.ID
			}
			next.Parent = balance.Parent{Kind: uint8(c.Kind), ID: c.ID}
			next.Items = balance.Interval{Hi: balance.MaxKey}
			if lo, hi, ok := order.Owner(owner); ok {
				next.Items = balance.Interval{Lo: lo, Hi: hi}
			}
		}
		out = append(out, next)
	}
	return out
}
