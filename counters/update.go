package counters

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"adshard/counters/store"
	"adshard/fault"
	"adshard/internal/wait"
)

// Unknown is the error of an update or Set whose outcome is not known: it may have been made, may
// never be, or may be made later.
type Unknown struct{ Err error }

// Error implements error.
func (u *Unknown) Error() string {
	return fmt.Sprintf("counters: it is not known whether the update has been made: %v", u.Err)
}

// Unwrap returns the cause.
func (u *Unknown) Unwrap() error { return u.Err }

// attempt is one try at writing an update.
type attempt struct {
	id   id
	head *head // the head as it was read; the write checks that it has not changed
	// shard is the key of the shard that records the id, and puts is the number of its puts before.
	// shard is "" if a row or the head records the id.
	shard string
	puts  uint64
	// entry is the key of the entry that only this update writes, or "" if it writes none.
	entry   string
	changes []store.Change
}

// entryOf returns the change that appends an entry to a part of a log.
type entryOf func(n name, part string, i id) store.Change

func (c *core) update(ctx context.Context, counter string, u function, entry entryOf) error {
	n, err := nameOf(counter)
	if err != nil {
		return err
	}
	c.markUpdated(n, counter)
	i, tries := newID(), 0
	missed := c.taken(n)
	defer func() { c.giveBack(n, missed) }()
	for {
		a, err := c.prepare(ctx, n, i, u, entry, missed)
		if err != nil {
			return err
		}
		made, err := c.write(ctx, n, a)
		switch {
		case made:
			missed = 0
			return nil
		case err != nil:
			return err
		}
		now, err := c.newest(ctx, n)
		if err != nil {
			return err
		}
		if now.version != a.head.version {
			continue // the head was changed by Set, Resize or Compact: this is no contention of updates
		}
		missed++
		if tries++; tries == c.options.Attempts {
			return fault.Newf(fault.Conflict, "counters: update", "%s: %d puts in a row met another update; retry, or use more shards", counter, tries)
		}
		if err := c.pause(ctx, tries); err != nil {
			return err
		}
	}
}

// pause sleeps for a random time that grows with the number of conflicts.
func (c *core) pause(ctx context.Context, conflicts int) error {
	most := c.options.Backoff << min(conflicts-1, 6)
	return wait.Sleep(ctx, time.Duration(rand.Int64N(int64(most)))+1)
}

// prepare builds the batch that applies an update to one part.
func (c *core) prepare(ctx context.Context, n name, i id, u function, entry entryOf, missed uint64) (*attempt, error) {
	h, err := c.head(ctx, n)
	if err != nil {
		return nil, err
	}
	a := &attempt{id: i, head: h}
	r, key, version := &record{Value: c.neutral}, n.row(i), uint64(0)
	label := "d"
	if !c.mode.dynamic {
		number := rand.IntN(h.Shards)
		key, label = n.shard(number), fmt.Sprintf("%04d", number)
		it, err := c.store.Get(ctx, key)
		if err == nil && it.Version != 0 {
			r, err = readRecord(it)
		}
		if err != nil {
			return nil, err
		}
		a.shard, a.puts, version = key, r.Puts, it.Version
	}
	if r.Epoch != h.Epoch {
		r.Epoch, r.Value = h.Epoch, c.neutral
	}
	if r.Value, err = u(r.Value); err != nil {
		return nil, err
	}
	r.Conflicts += missed
	if c.mode.dynamic {
		r.Puts = 1 // the key of a row is the id
	} else {
		r.addIDs(keptByShard, i[:]...)
	}
	a.changes = []store.Change{{Action: store.Check, Key: n.head(), Version: h.version}, {Key: key, Version: version, Value: r.encode()}}
	if entry != nil {
		e := entry(n, label, i)
		a.entry, a.changes = e.Key, append(a.changes, e)
	}
	return a, nil
}

// write applies a prepared update and reports whether it was made. If the store does not say, write
// finds out. made is false with a nil error if there was a conflict or the write was fenced.
func (c *core) write(ctx context.Context, n name, a *attempt) (made bool, err error) {
	if err := context.Cause(ctx); err != nil {
		return false, err // nothing was sent
	}
	_, err = c.store.Apply(ctx, a.changes...)
	switch {
	case err == nil:
		return true, nil
	case fault.Is(err, fault.Conflict):
		return false, nil
	case fault.Is(err, fault.Invalid):
		return false, err
	}
	return c.settle(ctx, n, a, err)
}

// settleTries is how often the store is asked for the outcome of a write.
const settleTries = 10

// settle finds out whether a write with an unknown outcome has been made.
func (c *core) settle(ctx context.Context, n name, a *attempt, cause error) (made bool, err error) {
	for tries := 1; ; tries++ {
		if err = c.fence(ctx, n, a); err == nil {
			if made, err = c.look(ctx, n, a); err == nil {
				return made, nil
			}
		}
		if errors.Is(err, errForgotten) || tries == settleTries || c.pause(ctx, tries+3) != nil {
			return false, &Unknown{errors.Join(cause, err)}
		}
	}
}

var errForgotten = errors.New("too many other updates came in between")

// fence makes sure that a write that has not been made never will be. It changes the version of the
// head, which the write checks.
func (c *core) fence(ctx context.Context, n name, a *attempt) error {
	now, err := c.newest(ctx, n)
	if err != nil || now.version != a.head.version {
		return err
	}
	_, err = c.store.Apply(ctx, n.put(now, &now.record))
	if err != nil && !fault.Is(err, fault.Conflict) { // after a conflict, the version has changed already
		return err
	}
	_, err = c.newest(ctx, n)
	return err
}

// look reports whether a fenced write was made.
func (c *core) look(ctx context.Context, n name, a *attempt) (made bool, err error) {
	if a.entry != "" {
		it, err := c.store.Get(ctx, a.entry)
		return it.Version != 0, err
	}
	s, err := c.snapshot(ctx, n, 0)
	if err != nil {
		return false, err
	}
	if s.head.Epoch != a.head.Epoch || s.head.has(a.id) {
		return true, nil // it was overwritten by a later Set, whether it was made or not
	}
	var shard record
	for i := range s.parts {
		if p := &s.parts[i]; p.key == n.row(a.id) || p.has(a.id) {
			return true, nil
		} else if p.key == a.shard {
			shard = p.record
		}
	}
	switch {
	case a.shard == "" && s.head.knows(a.head.Puts):
		return false, nil // the head would have the id if the row had been folded
	case a.shard != "" && s.head.Puts == a.head.Puts && shard.knows(a.puts):
		return false, nil // nothing was folded, so the shard is still the one that was read
	}
	return false, errForgotten
}

// markUpdated notes that Run must maintain a counter.
func (c *core) markUpdated(n name, counter string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.updated) < mostKnown {
		c.updated[n] = counter
	}
}

// taken returns the number of conflicts that no put has recorded yet, and resets it.
func (c *core) taken(n name) uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	missed := c.missed[n]
	delete(c.missed, n)
	return missed
}

func (c *core) giveBack(n name, missed uint64) {
	if missed > 0 {
		c.mu.Lock()
		c.missed[n] += missed
		c.mu.Unlock()
	}
}
