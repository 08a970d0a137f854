package load

import (
	"cmp"
	"slices"
)

// heavyHitters counts the most expensive items in bounded memory, lossily: if there are too many,
// it drops about the cheaper half. A dropped item that returns is counted from 0. The zero value is
// empty.
type heavyHitters struct {
	slots []hitter // open addressing; slots without cost are free
	used  int
	// buffers of forget
	kept  []hitter
	order []uint64
}

// hitter is an item or topic with its cost.
type hitter struct {
	of uint64
	cost
}

func (c *cost) free() bool { return c.examined+c.matched == 0 }

const (
	hitterBits = 11
	// maxHitters is the largest number of items or topics counted at a time.
	maxHitters = 1 << hitterBits / 2
	// sampled is the inverse of the share of costs from which the median is estimated.
	sampled = 8
)

// add adds a cost above 0.
func (h *heavyHitters) add(of uint64, c cost) {
	if h.slots == nil {
		h.slots = make([]hitter, 1<<hitterBits)
	}
	for i := of * 0x9e3779b97f4a7c15 >> (64 - hitterBits); ; i = (i + 1) % (1 << hitterBits) {
		s := &h.slots[i]
		if s.of != of && !s.free() {
			continue
		}
		if s.free() {
			s.of = of
			h.used++
		}
		s.cost.add(c)
		break
	}
	if h.used > maxHitters {
		h.forget()
	}
}

// forget drops the items whose cost is at most about the median. It estimates the median from one
// item in sampled. Items are placed by hash, so these are a random sample.
func (h *heavyHitters) forget() {
	h.kept, h.order = h.kept[:0], h.order[:0]
	for i := range h.slots {
		if !h.slots[i].free() {
			if h.kept = append(h.kept, h.slots[i]); len(h.kept)%sampled == 0 {
				h.order = append(h.order, h.slots[i].examined)
			}
		}
	}
	slices.Sort(h.order)
	middle := h.order[len(h.order)/2]
	h.reset()
	for i := range h.kept {
		if h.kept[i].examined > middle {
			h.add(h.kept[i].of, h.kept[i].cost)
		}
	}
}

// reset removes everything.
func (h *heavyHitters) reset() {
	clear(h.slots)
	h.used = 0
}

// most returns the n items with the most postings examined, and the lower number first if these are
// equal.
func (h *heavyHitters) most(n int) []hitter {
	list := make([]hitter, 0, h.used)
	for i := range h.slots {
		if !h.slots[i].free() {
			list = append(list, h.slots[i])
		}
	}
	slices.SortFunc(list, func(a, b hitter) int {
		return cmp.Or(cmp.Compare(b.examined, a.examined), cmp.Compare(a.of, b.of))
	})
	return list[:min(n, len(list))]
}
