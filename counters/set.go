package counters

import (
	"context"
	"encoding/json"

	"adshard/counters/store"
	"adshard/fault"
)

// set begins the next epoch. The head records the id of the Set, as it does for folded
// updates.
func (c *core) set(ctx context.Context, counter string, v json.RawMessage) error {
	n, err := nameOf(counter)
	if err != nil {
		return err
	}
	c.markUpdated(n, counter)
	i := newID()
	for {
		h, err := c.newest(ctx, n)
		if err != nil {
			return err
		}
		next := h.record
		next.Epoch, next.Value = h.Epoch+1, v
		next.addIDs(keptByHead, i[:]...)
		if made, err := c.write(ctx, n, &attempt{id: i, head: h, changes: []store.Change{n.put(h, &next)}}); made || err != nil {
			return err
		}
	}
}

// resize tries until the head has the number. A try with an unknown outcome does no harm,
// since the next try reads the head again.
func (c *core) resize(ctx context.Context, counter string, shards int) error {
	n, err := nameOf(counter)
	if err != nil {
		return err
	}
	if shards < 1 || shards > MaxShards {
		return fault.Newf(fault.Invalid, "counters: resize", "%d shards: 1 to %d", shards, MaxShards)
	}
	c.markUpdated(n, counter)
	for {
		h, err := c.newest(ctx, n)
		if err != nil || h.Shards == shards {
			return err
		}
		if err := c.resized(ctx, n, h, shards); err != nil && !fault.Is(err, fault.Conflict) {
			return err
		}
	}
}

// resized writes a head with another number of shards.
func (c *core) resized(ctx context.Context, n name, h *head, shards int) error {
	next := h.record
	next.Shards = shards
	_, err := c.store.Apply(ctx, n.put(h, &next))
	return err
}
