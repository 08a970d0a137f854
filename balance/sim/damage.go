package sim

import (
	"time"

	"adshard/balance"
)

// damage makes a byte flip in the copy of each slice that begins to move within a time,
// while the slice is being copied.
func (w *world) damage(e Event) error {
	w.damaged = w.now + e.For
	return nil
}

// spoil damages the copies of moves that a model has begun, on each slave.
func (w *world) spoil(m *balance.Model) {
	for _, v := range m.Slices() {
		if v.Move.Phase != balance.Copying || w.now >= w.damaged {
			continue
		}
		for _, s := range m.Set(v.Move.Other) {
			w.spoilCopy(w.slave(s.Name), v, w.now+time.Second)
		}
	}
}

// spoilCopy damages the first item that arrives in a slice's copy, if it arrives in
// time.
func (w *world) spoilCopy(s *slave, v balance.Slice, until time.Duration) {
	if s == nil || w.now > until {
		return
	}
	for _, h := range s.disk.table.Slices {
		if h.ID != v.ID || h.Generation != v.Generation || h.From != 0 {
			continue
		}
		for _, k := range s.disk.held(h.Lo, h.Hi) {
			if r := s.disk.items[k]; r.flipped == 0 {
				s.flip(r)
			}
			return
		}
	}
	w.after(2*time.Millisecond, func() { w.spoilCopy(s, v, until) })
}

// flipParent changes a byte in the record of an item's parent.
func (s *slave) flipParent(k balance.Key) {
	if p := parentOf(k); s.disk.parents[p] != 0 {
		s.disk.parents[p] |= flippedParent
	}
}

// flippedParent is set in the version of a parent whose record was changed. No clock
// gets that high.
const flippedParent = 1 << 40

// flip changes a byte of an item's posting. The second time, it changes it back.
func (s *slave) flip(r record) {
	r.posted, r.flipped = r.posted^1<<40, s.w.now
	if r.posted == r.version {
		r.flipped = 0
	}
	s.disk.put(r)
}
