package balance

import (
	"fmt"
	"math"
	"slices"
	"sort"
)

// Held is a slice, or a part of one that is arriving or leaving, in the table of
// the slave that holds it. It is served in the views From..Until; From 0: held but
// not served; Until 0: no end. Only a slice that is entirely Full is served.
type Held struct {
	ID          uint64
	Lo, Hi      Key
	Generation  uint64
	From, Until uint64
	State       HeldState
}

// HeldState says how complete a held slice is.
type HeldState uint8

// The states of what is held, numbered as on the wire.
const (
	Full    HeldState = iota
	Filling           // items below the position's offset have arrived
	Residue           // it has left; its items are being deleted
)

// Table is all that a slave holds, in ascending key order, disjoint. View is the newest
// view that it has received: it serves none above. Least is the oldest that it
// still serves.
type Table struct {
	Slices      []Held
	View, Least uint64
	// Revision is the newest that the slave has received; it serves masters of any.
	Revision uint64
	// Shard is the name of the shard that it is a replica of; "": its own name.
	// Spare: it is a replica of none.
	Shard string
	Spare bool
	// Filled is Model.Filled as the slave has received it.
	Filled bool
}

// empty returns the table with no slices.
func (t Table) empty() Table {
	t.Slices = nil
	return t
}

// Equal reports whether two tables are equal.
func (t Table) Equal(u Table) bool {
	return t.View == u.View && t.Least == u.Least && t.Revision == u.Revision && t.Shard == u.Shard && t.Spare == u.Spare &&
		t.Filled == u.Filled && slices.Equal(t.Slices, u.Slices)
}

// Coverage returns the keys that the table holds, neighbours joined.
func (t Table) Coverage() []Interval {
	var out []Interval
	for _, h := range t.Slices {
		out = appendInterval(out, Interval{h.Lo, h.Hi})
	}
	return out
}

// Check returns an error if slices overlap or have swapped ends.
func (t Table) Check() error {
	for i, h := range t.Slices {
		if h.Lo > h.Hi || i > 0 && h.Lo <= t.Slices[i-1].Hi {
			return fmt.Errorf("slice %d of a slave's table (%x to %x) overlaps or has its ends swapped", h.ID, h.Lo, h.Hi)
		}
	}
	return nil
}

// Toward returns the table that follows t when the model assigns want, whose
// states are ignored. What is assigned and Full or Filling stays so; what is held
// but not assigned becomes Residue. What is assigned but missing waits; with begin
// it becomes Filling, the next batch, and so does residue that is assigned again,
// since it was not kept up to date. A slice is served when all of it is Full;
// until then it is held in parts.
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

// Completed returns the table with everything that was Filling now Full.
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

// Without returns the table without the residue in cleared.
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

// In returns the keys that are in a state.
func (t Table) In(s HeldState) []Interval {
	var out []Interval
	for _, h := range t.Slices {
		if h.State == s {
			out = appendInterval(out, Interval{h.Lo, h.Hi})
		}
	}
	return out
}

// Delivered returns the keys whose items a slave with this table and offset has
// and keeps up to date.
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

// Sound reports whether a table and an offset are consistent: there is an offset
// exactly while something is Filling, and only what is Full is served.
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

// add appends h for the keys v, after all others, joined with the last one if they
// are alike.
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

// serve sets the views in which the assigned slice w, added last, is served, if
// all of it is Full.
func (t *Table) serve(w *Held) {
	n := len(t.Slices)
	if w == nil || n == 0 {
		return
	}
	if last := &t.Slices[n-1]; last.State == Full && last.Lo == w.Lo && last.Hi == w.Hi {
		last.From, last.Until = w.From, w.Until
	}
}

// walk visits the keys of v in runs: those of each held slice and, with nil, the
// gaps between them.
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

// InView reports whether who has received a view knows that it is to serve the slice.
func (h *Held) InView(view uint64) bool { return h.From != 0 && h.From <= view }

// EverServed returns the keys that a slave serves in any view.
func (t Table) EverServed() []Interval { return t.ServedIn(math.MaxUint64) }

// ServedIn returns the keys that a slave that has received a view knows that it serves, in
// that view or a later one.
func (t Table) ServedIn(view uint64) []Interval {
	var out []Interval
	for _, h := range t.Slices {
		if h.InView(view) {
			out = appendInterval(out, Interval{h.Lo, h.Hi})
		}
	}
	return out
}

// Served returns the keys that a slave serves, in its newest view.
func (t Table) Served() []Interval {
	out := []Interval{}
	for _, h := range t.Slices {
		if h.State == Full && h.From != 0 && h.Until == 0 {
			out = appendInterval(out, Interval{h.Lo, h.Hi})
		}
	}
	return out
}
