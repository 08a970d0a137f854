package balancer

import (
	"context"
	"time"

	"adshard/backend"
	"adshard/balance"
	"adshard/fault"
	"adshard/internal/node/feed"
	"adshard/internal/node/health"
	"adshard/internal/wait"
)

const (
	// suspended is the time between two checks of a lease that could not be renewed.
	suspended = 50 * time.Millisecond
	// feedCompaction is the time between two compactions of the feed.
	feedCompaction = 10 * time.Second
	// feedSlack is the number of changes that are kept although all slaves have applied them: a
	// slave whose machine lost its last writes goes back a little.
	feedSlack = 10_000
)

// takeChanges gives changes to the mapper.
func (b *Balancer) takeChanges(list []balance.Change, _ backend.Position) error {
	return b.step(func() error { b.mapper.Changes(b.now(), list); return nil })
}

// tick tells the mapper the time whenever one of its deadlines has come. While the lease is expired
// it does not, and the mapper treats that time as a moment (balance.Mapper).
func (b *Balancer) tick(ctx context.Context) error {
	for {
		b.mu.Lock()
		due := b.mapper.Next() - b.now()
		b.mu.Unlock()
		timer := time.NewTimer(max(due, time.Millisecond))
		select {
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		case <-b.news: // the next deadline may have moved earlier
			timer.Stop()
		case <-timer.C:
			if !b.leadership.Valid() {
				if err := wait.Sleep(ctx, suspended); err != nil {
					return err
				}
				continue
			}
			if err := b.step(func() error { b.mapper.Tick(b.now()); return nil }); err != nil {
				return err
			}
		}
	}
}

// persist makes models durable. It repeats a save until it succeeds.
func (b *Balancer) persist(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case s := <-b.saves:
			for {
				err := b.leadership.saveModel(ctx, s.Bytes)
				if ctx.Err() == nil {
					b.health.Record(health.SaveModel, err)
				}
				if err == nil {
					break
				}
				if fault.Is(err, fault.Conflict) || ctx.Err() != nil {
					return err
				}
				if fault.Is(err, fault.Stale) {
					b.succession.restored(err)
				}
				b.log.Warn("cannot save the slice model; trying again", "err", err)
				if err := wait.Sleep(ctx, feed.RetryAfter); err != nil {
					return err
				}
			}
			if err := b.step(func() error { b.mapper.Saved(b.now(), s.Seq); return nil }); err != nil {
				return err
			}
		}
	}
}

// keepLease renews the lease until ctx is done or another balancer has taken over.
func (b *Balancer) keepLease(ctx context.Context) error {
	var complaint wait.Complaint
	err := b.leadership.KeepAlive(ctx, func(err error) {
		b.health.Record(health.RenewLease, err)
		if complaint.Tell(err) {
			b.log.Warn("cannot renew the lease", "err", err)
		}
	})
	if fault.Is(err, fault.Stale) {
		b.succession.restored(err)
		return nil // Run ends without this error
	}
	return err
}

// housekeep lets the feed drop changes that all slaves have applied.
func (b *Balancer) housekeep(ctx context.Context) error {
	for {
		if err := wait.Sleep(ctx, feedCompaction); err != nil {
			return err
		}
		err := b.compactFeed(ctx)
		if err == nil && b.cfg.Control != "" {
			err = b.noteDatabase(ctx)
		}
		if err := b.tolerate(ctx, err, "cannot compact the feed; trying again later"); err != nil {
			return err
		}
	}
}

// compactFeed marks the changes that slaves need and lets the feed drop those before them.
func (b *Balancer) compactFeed(ctx context.Context) error {
	b.mu.Lock()
	least, newest := b.leastApplied(), b.mapper.Clock()
	b.mu.Unlock()
	least -= min(least, feedSlack)
	if newest > b.cfg.KeepChanges {
		least = max(least, newest-b.cfg.KeepChanges)
	}
	if least == 0 {
		return nil
	}
	return b.leadership.Compact(ctx, least, b.cfg.ReaderAge)
}

// leastApplied returns the least clock that a slave of the model, a copy of a slave's store or a
// distributor has reached. It returns 0 if a slave has not registered, since that slave may need
// any change. Drained slaves need no changes. The caller holds the lock.
func (b *Balancer) leastApplied() uint64 {
	model := b.mapper.Model()
	if model == nil {
		return 0
	}
	least := b.distributors.leastClock(b.mapper.Clock(), time.Now())
	for _, v := range model.Slaves() {
		if sh, _ := model.Shard(v.Shard); sh.State == balance.Drained || v.Drained {
			continue
		}
		s, known := b.slaves[v.Name]
		if !known {
			return 0
		}
		least = min(least, s.position.Clock)
	}
	for _, s := range b.slaves {
		if s.held > 0 {
			least = min(least, s.held)
		}
	}
	return least
}

// tolerate returns the error of a write only if another balancer has taken over. It starts over if the database was
// restored, and logs all other errors.
func (b *Balancer) tolerate(ctx context.Context, err error, what string) error {
	switch {
	case ctx.Err() != nil:
	case fault.Is(err, fault.Conflict):
		return err
	case fault.Is(err, fault.Stale):
		b.succession.restored(err)
	case err != nil:
		b.log.Warn(what, "err", err)
	}
	return nil
}
