package balance

import (
	"fmt"
	"math"
	"slices"
	"sort"
)

// Held is a slice in the table of the slave that holds it, or a part of a slice that is
// arriving or leaving. It is served in the views From to Until, both inclusive. If From
// is 0, it is not served; if Until is 0, there is no last view. A slice is served only
// if all of it is Full.
type Held struct {
	ID          uint64
	Lo, Hi      Key
	Generation  uint64
	From, Until uint64
	State       HeldState
}

// HeldState says how complete a held slice is.
type HeldState uint8

// The states of a held slice. The protocol uses these numbers.
const (
	Full    HeldState = iota
	Filling           // items with keys below the position's offset have arrived
	Residue           // no longer assigned; its items are being deleted
)

// Table has all slices that a slave holds, disjoint and in ascending order of keys.
// View is the newest view that the slave has received: it serves no later view. Least
// is the oldest view that it still serves.
type Table struct {
	Slices      []Held
	View, Least uint64
	// Revision is the newest revision that the slave has received. It serves masters
	// with any revision.
	Revision uint64
	// Shard is the name of the shard of which the slave is a replica; "" means the
	// slave's own name. Spare says that the slave is not a replica.
	Shard string
	Spare bool
	// Filled is Model.Filled, as the slave has received it.
	Filled bool
}

// empty returns the table without slices.
func (t Table) empty() Table {
	t.Slices = nil
	return t
}

// Equal reports whether two tables are equal.
func (t Table) Equal(u Table) bool {
	return t.View == u.View && t.Least == u.Least && t.Revision == u.Revision && t.Shard == u.Shard && t.Spare == u.Spare &&
		t.Filled == u.Filled && slices.Equal(t.Slices, u.Slices)
}

// Coverage returns the keys that the table holds, with adjacent intervals joined.
func (t Table) Coverage() []Interval {
	var out []Interval
	for _, h := range t.Slices {
		out = appendInterval(out, Interval{h.Lo, h.Hi})
	}
	return out
}

// Check returns an error if slices overlap, or one has its ends swapped.
func (t Table) Check() error {
	for i, h := range t.Slices {
		if h.Lo > h.Hi || i > 0 && h.Lo <= t.Slices[i-1].Hi {
			return fmt.Errorf("slice %d of a slave's table (%x to %x) overlaps or has its ends swapped", h.ID, h.Lo, h.Hi)
		}
	}
	return nil
}

// Toward returns the table that follows t when the model assigns the slices of want
// (states in want are ignored). Assigned keys that are Full or Filling stay so. Keys
// that are held but not assigned become Residue. Keys that are assigned but not held
// are left out, unless begin is set: then they become Filling, as the next batch. So
// does residue that is assigned again, since it was not kept up to date. A slice is
// served when all of it is Full; until then it is held in parts.
func (t Table) Toward(want Table, begin bool) Table {
	next := want.empty()
	walk(want.Slices, Interval{0, MaxKey}, func(w *Held, v Interval) {
		walk(t.Slices, v, func(h *Held, part Interval) {
			switch {
			case h == nil && (w == nil || !begin):
			case w == nil || h != nil && h.State == Residue && !begin:
				next.add(Held{ID: h.ID, Generation: h.Generation, State: Residue}, part)
			case h != nil && h.State == Full:
				next.add(Held{ID: w.ID, Generation: w.Generation, State: Full}, part)
			default:
				next.add(Held{ID: w.ID, Generation: w.Generation, State: Filling}, part)
			}
		})
		next.serve(w)
	})
	return next
}

// Completed returns the table after a batch is complete: keys that were Filling are
// Full.
func (t Table) Completed(want Table) Table {
	full := t.empty()
	for _, h := range t.Slices {
		if h.State == Filling {
			h.State = Full
		}
		full.Slices = append(full.Slices, h)
	}
	return full.Toward(want, false)
}

// Without returns the table without the residue that lies in the cleared keys.
func (t Table) Without(cleared []Interval) Table {
	out := t.empty()
	for _, h := range t.Slices {
		if h.State != Residue {
			out.Slices = append(out.Slices, h)
			continue
		}
		for _, part := range Outside(Interval{h.Lo, h.Hi}, cleared) {
			h.Lo, h.Hi = part.Lo, part.Hi
			out.Slices = append(out.Slices, h)
		}
	}
	return out
}

// In returns the keys that have a state.
func (t Table) In(s HeldState) []Interval {
	var out []Interval
	for _, h := range t.Slices {
		if h.State == s {
			out = appendInterval(out, Interval{h.Lo, h.Hi})
		}
	}
	return out
}

// Delivered returns the keys whose items a slave with this table and offset has and
// keeps up to date.
func (t Table) Delivered(offset uint64) []Interval {
	var out []Interval
	for _, h := range t.Slices {
		switch {
		case h.State == Full:
			out = appendInterval(out, Interval{h.Lo, h.Hi})
		case h.State == Filling && uint64(h.Lo) < offset:
			out = appendInterval(out, Interval{h.Lo, min(h.Hi, Key(offset-1))})
		}
	}
	return out
}

// Sound reports whether a table and an offset are consistent: the offset is not 0
// exactly if some keys are Filling, and only slices that are Full are served.
func (t Table) Sound(offset uint64) bool {
	filling := false
	for _, h := range t.Slices {
		filling = filling || h.State == Filling
		if h.State > Residue || h.State != Full && h.From != 0 {
			return false
		}
	}
	return t.Check() == nil && filling == (offset != 0)
}

// add appends h with the keys v, which lie after all others. If h has the same id,
// generation and state as the last entry and is adjacent to it, they are joined.
func (t *Table) add(h Held, v Interval) {
	h.Lo, h.Hi = v.Lo, v.Hi
	if n := len(t.Slices); n > 0 {
		last := &t.Slices[n-1]
		if last.ID == h.ID && last.Generation == h.Generation && last.State == h.State && last.Hi+1 == h.Lo {
			last.Hi = h.Hi
			return
		}
	}
	t.Slices = append(t.Slices, h)
}

// serve sets the views in which the assigned slice w, whose parts were added last, is
// served. It does nothing unless all of w is Full.
func (t *Table) serve(w *Held) {
	n := len(t.Slices)
	if w == nil || n == 0 {
		return
	}
	if last := &t.Slices[n-1]; last.State == Full && last.Lo == w.Lo && last.Hi == w.Hi {
		last.From, last.Until = w.From, w.Until
	}
}

// walk visits the keys of v in runs: the keys of each held slice, and the gaps between
// slices, for which h is nil.
func walk(held []Held, v Interval, visit func(h *Held, part Interval)) {
	i := sort.Search(len(held), func(i int) bool { return held[i].Hi >= v.Lo })
	for {
		var h *Held
		part := v
		if i < len(held) && held[i].Lo <= v.Lo {
			h = &held[i]
			part.Hi = min(v.Hi, h.Hi)
			i++
		} else if i < len(held) && held[i].Lo <= v.Hi {
			part.Hi = held[i].Lo - 1
		}
		visit(h, part)
		if part.Hi == v.Hi {
			return
		}
		v.Lo = part.Hi + 1
	}
}

// InView reports whether a slave that has received a view is to serve the slice in that
// view or a later one.
func (h *Held) InView(view uint64) bool { return h.From != 0 && h.From <= view }

// EverServed returns the keys of slices that have a first view in which they are
// served.
func (t Table) EverServed() []Interval { return t.ServedIn(math.MaxUint64) }

// ServedIn returns the keys that a slave that has received a view knows it is to serve,
// in that view or later.
func (t Table) ServedIn(view uint64) []Interval {
	var out []Interval
	for _, h := range t.Slices {
		if h.InView(view) {
			out = appendInterval(out, Interval{h.Lo, h.Hi})
		}
	}
	return out
}

// Served returns the keys that a slave serves in its newest view.
func (t Table) Served() []Interval {
	out := []Interval{}
	for _, h := range t.Slices {
		if h.State == Full && h.From != 0 && h.Until == 0 {
			out = appendInterval(out, Interval{h.Lo, h.Hi})
		}
	}
	return out
}
