package sim

import (
	"fmt"
	"time"

	"adshard/balance"
)

// bouncer orders slices back as soon as their moves are finished, while the data that
// they left behind are still being deleted.
type bouncer struct {
	until    time.Duration
	switched map[uint64]balance.ShardID // the shard that a slice came from, by slice
}

// bounce makes finished moves bounce for a time.
func (w *world) bounce(e Event) error {
	w.bouncer.until = w.now + e.For
	return nil
}

// saved checks a model that has become durable.
func (b *bouncer) saved(w *world, m *balance.Model) {
	before := b.switched
	b.switched = make(map[uint64]balance.ShardID)
	for _, v := range m.Slices() {
		if v.Move.Phase == balance.Switched {
			b.switched[v.ID] = v.Move.Other
		}
		from, moved := before[v.ID]
		if sh, known := m.Shard(from); moved && known && v.Move.Phase == balance.NoMove && w.now < b.until {
			w.after(w.jitter(w.times.poll), func() { _ = w.command(v.ID, sh.Name) })
		}
	}
}

// command orders the mapper to move a slice.
func (w *world) command(slice uint64, to string) error {
	b, err := w.running()
	if err != nil || b.mapper.Model() == nil {
		return fmt.Errorf("no balancer runs")
	}
	err = b.mapper.Move(b.time(), slice, to)
	b.carry()
	return err
}
