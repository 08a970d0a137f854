package counters

import (
	"context"
	"maps"
	"time"

	"adshard/fault"
	"adshard/internal/wait"
)

// watch is what Maintain remembers of an adaptive counter between two calls.
type watch struct {
	pace
	shards int             // as last seen
	seen   map[string]load // by key of the shard
}

// maintain compacts a counter and adapts its number of shards if its mode has a rule.
func (c *core) maintain(ctx context.Context, counter string) error {
	if _, err := c.compact(ctx, counter); err != nil || c.mode.rule == nil {
		return err
	}
	n, err := nameOf(counter)
	if err != nil {
		return err
	}
	s, err := c.snapshot(ctx, n, 0)
	if err != nil || s.head == nil {
		return err
	}
	next := c.watched(n).next(c.mode.rule, n, &s)
	if next == s.head.Shards {
		return nil
	}
	err = c.resized(ctx, n, s.head, next)
	if fault.Is(err, fault.Conflict) {
		return nil // another process has changed the head; the next window decides again
	}
	return err
}

func (c *core) watched(n name) *watch {
	c.mu.Lock()
	defer c.mu.Unlock()
	w := c.paces[n]
	if w == nil {
		w = new(watch)
		c.paces[n] = w
	}
	return w
}

// next returns the number of shards that a counter should have after the window that
// ends now.
func (w *watch) next(r *Rule, n name, s *snapshot) int {
	var window load
	seen := make(map[string]load)
	for i := range s.parts {
		p := &s.parts[i]
		if _, is := n.shardOf(p.key); !is {
			continue
		}
		now := load{p.Puts + p.Conflicts, p.Conflicts}
		before := w.seen[p.key]
		if now.puts < before.puts { // the shard was folded and started again
			before = load{}
		}
		seen[p.key] = now
		window.add(load{now.puts - before.puts, now.conflicts - min(before.conflicts, now.conflicts)})
	}
	first, changed := w.seen == nil, w.shards != s.head.Shards
	w.seen, w.shards = seen, s.head.Shards
	if first || changed { // the window's load was for another number of shards
		w.pace = pace{}
		return s.head.Shards
	}
	return w.pace.next(r, s.head.Shards, window)
}

// run maintains counters until ctx is done.
func (c *core) run(ctx context.Context, interval time.Duration, note func(error)) error {
	adaptive := make(map[name]string) // maintained even when idle, so that they shrink
	for {
		if err := wait.Sleep(ctx, interval); err != nil {
			return err
		}
		c.mu.Lock()
		list := maps.Clone(c.updated)
		clear(c.updated)
		c.mu.Unlock()
		if c.mode.rule != nil {
			if len(adaptive) >= mostKnown {
				clear(adaptive)
			}
			maps.Copy(adaptive, list)
			list = adaptive
		}
		for n, counter := range list {
			if err := c.maintain(ctx, counter); err != nil && ctx.Err() == nil {
				note(err)
				c.markUpdated(n, counter)
			}
		}
	}
}
