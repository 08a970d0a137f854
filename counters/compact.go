package counters

import (
	"context"

	"adshard/counters/store"
	"adshard/fault"
	"adshard/internal/wait"
)

// batch is the number of parts that are folded at once; readAhead is the number that are read at
// once. So a counter with many parts is compacted piece by piece.
const (
	batch     = 256
	readAhead = 8 * batch
)

// compact folds the parts of a counter in batches. Each batch is computed from the parts as they
// were read last. If the head has changed since then, the batch fails and changes nothing.
func (c *core) compact(ctx context.Context, counter string) (done int, err error) {
	n, err := nameOf(counter)
	if err != nil {
		return 0, err
	}
	for {
		s, err := c.snapshot(ctx, n, readAhead)
		if err != nil || s.head == nil {
			return done, err
		}
		left := s.idle(n)
		for len(left) > 0 {
			now := left[:min(batch, len(left))]
			if err := c.foldIn(ctx, n, s.head, now); fault.Is(err, fault.Conflict) {
				break // another process compacted, set or resized the counter
			} else if err != nil {
				return done, err
			}
			done, left = done+len(now), left[len(now):]
		}
		if len(left) == 0 && len(s.parts) < readAhead-1 {
			return done, nil
		}
		if err := wait.Sleep(ctx, 0); err != nil {
			return done, err
		}
	}
}

// idle returns the parts that will not be updated again: rows, and shards whose number is not below
// the head's. A shard in use stays, even with an earlier epoch: the next update restarts it.
func (s *snapshot) idle(n name) (out []part) {
	for _, p := range s.parts {
		if i, is := n.shardOf(p.key); !is || i >= s.head.Shards {
			out = append(out, p)
		}
	}
	return out
}

// foldIn folds parts into the head, and removes them.
func (c *core) foldIn(ctx context.Context, n name, h *head, list []part) (err error) {
	next := h.record
	var ids []byte
	changes := make([]store.Change, 1, 1+len(list))
	for i := range list {
		p := &list[i]
		changes = append(changes, store.Change{Action: store.Delete, Key: p.key, Version: p.version})
		if p.Epoch != h.Epoch {
			continue // its value no longer counts, and the epoch tells readers so
		}
		if next.Value, err = c.fold(next.Value, p.Value); err != nil {
			return err
		}
		if i, is := n.rowOf(p.key); is {
			ids = append(ids, i[:]...)
		} else {
			ids = append(ids, p.Recent...)
		}
	}
	next.addIDs(keptByHead, ids...)
	changes[0] = n.put(h, &next)
	version, err := c.store.Apply(ctx, changes...)
	if err == nil {
		*h = head{next, version}
		c.remember(n, &head{next, version})
	}
	return err
}
