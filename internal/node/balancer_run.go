package node

import (
	"context"
	"time"

	"golang.org/x/sync/errgroup"

	"adshard/backend"
	"adshard/balance"
	"adshard/fault"
)

const (
	// feedBatch is how many changes are read at a time.
	feedBatch = 4096
	// housekeeping is the time between two looks at the epoch and the feed.
	housekeeping = time.Second
	// feedCompaction is the time between two compactions of the feed.
	feedCompaction = 10 * time.Second
	// feedSlack is how many changes are kept that all slaves have applied: one
	// whose machine lost its last writes goes back a little.
	feedSlack = 10_000
	// balancerRetry is the pause after a failure of the database.
	balancerRetry = 200 * time.Millisecond
)

// follow gives the changes of the database to the cores.
func (b *Balancer) follow(ctx context.Context) error {
	for {
		list, err := b.db.Changes(ctx, b.fed, feedBatch)
		switch {
		case fault.Is(err, fault.Stale):
			return err // another reader forgot what we hold: only a restart helps
		case err == nil && len(list) == 0:
			err = b.db.Wait(ctx, b.fed)
		case err == nil:
			b.fed = list[len(list)-1].Clock
			err = b.feed(b.changes(list))
			if err != nil {
				return err
			}
		}
		if err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			b.log.Warn("cannot read the changes; trying again", "err", err)
			if err := pause(ctx, balancerRetry); err != nil {
				return err
			}
		}
	}
}

func (b *Balancer) feed(list []balance.Change) error {
	err := b.step(func() error {
		b.mapper.Changes(b.now(), list)
		return b.dist.Changes(list)
	})
	select {
	case b.news <- struct{}{}:
	default:
	}
	return err
}

// changes translates changes of the feed. A change of a parent concerns the
// keys of its advertiser, or all where advertisers are spread.
func (b *Balancer) changes(list []backend.Change) []balance.Change {
	out := make([]balance.Change, 0, len(list))
	for _, c := range list {
		next := balance.Change{Clock: c.Clock, Removed: c.Removed}
		if c.Kind == backend.KindGroup {
			key, err := b.order.Key(c.AdvertiserID, c.ID)
			if err != nil {
				b.log.Error("a group cannot be placed and is left out", "group", c.ID, "err", err)
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
			if lo, hi, ok := b.order.Owner(owner); ok {
				next.Items = balance.Interval{Lo: lo, Hi: hi}
			}
		}
		out = append(out, next)
	}
	return out
}

// beat tells the mapper the time when it has something to do.
func (b *Balancer) beat(ctx context.Context) error {
	for {
		b.mu.Lock()
		wait := b.mapper.Next() - b.now()
		b.mu.Unlock()
		timer := time.NewTimer(max(wait, time.Millisecond))
		select {
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		case <-b.news: // the next moment may be sooner now
			timer.Stop()
		case <-timer.C:
			if err := b.step(func() error { b.mapper.Tick(b.now()); return nil }); err != nil {
				return err
			}
		}
	}
}

// persist makes models durable, and tries until it can.
func (b *Balancer) persist(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case s := <-b.saves:
			for {
				err := b.tenure.save(ctx, s.Bytes)
				if err == nil {
					break
				}
				if fault.Is(err, fault.Conflict) || ctx.Err() != nil {
					return err
				}
				b.log.Warn("cannot save the slice model; trying again", "err", err)
				if err := pause(ctx, balancerRetry); err != nil {
					return err
				}
			}
			if err := b.step(func() error { b.mapper.Saved(b.now(), s.Seq); return nil }); err != nil {
				return err
			}
		}
	}
}

// housekeep looks for another balancer and lets the feed forget what all
// slaves have applied.
func (b *Balancer) housekeep(ctx context.Context) error {
	last := time.Now()
	for {
		if err := pause(ctx, housekeeping); err != nil {
			return err
		}
		if err := b.tenure.check(ctx); err != nil {
			if fault.Is(err, fault.Conflict) {
				return err
			}
			b.log.Warn("cannot read the epoch", "err", err)
			continue
		}
		if time.Since(last) < feedCompaction {
			continue
		}
		last = time.Now()
		if err := b.forget(ctx); err != nil && ctx.Err() == nil {
			b.log.Warn("cannot compact the feed; trying again later", "err", err)
		}
	}
}

// forget holds and compacts the feed.
func (b *Balancer) forget(ctx context.Context) error {
	b.mu.Lock()
	least, known := b.dist.Least()
	newest := b.mapper.Clock()
	b.mu.Unlock()
	if !known {
		least = 0 // a slave that is away may need anything
	}
	least -= min(least, feedSlack)
	if newest > b.cfg.KeepChanges {
		least = max(least, newest-b.cfg.KeepChanges)
	}
	if least == 0 {
		return nil
	}
	if err := b.db.Hold(ctx, b.cfg.StateKey, least); err != nil {
		return err
	}
	_, err := b.db.Compact(ctx, least)
	return err
}

// dispatch starts the tasks, as many at a time as there are workers.
func (b *Balancer) dispatch(ctx context.Context, group *errgroup.Group) error {
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-b.poke:
		}
		b.mu.Lock()
		tasks := b.tasks
		b.tasks = nil
		b.mu.Unlock()
		for _, run := range tasks {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case b.work <- struct{}{}:
			}
			group.Go(func() error {
				defer func() { <-b.work }()
				return run(ctx)
			})
		}
	}
}

// pause waits for d; the error is that of a ctx that was over first.
func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
