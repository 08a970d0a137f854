package balance

import "sort"

// toward returns the table that follows t when the model assigns want, whose
// states are ignored. What is assigned and Full or Filling stays so; what is held
// but not assigned becomes Residue. What is assigned but missing waits; with begin
// it becomes Filling, the next batch, and so does residue that is assigned again,
// since it was not kept up to date. A slice is served when all of it is Full;
// until then it is held in parts.
func (t Table) toward(want Table, begin bool) Table {
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

// filled returns the table with everything that was Filling now Full.
func (t Table) filled(want Table) Table {
	full := t.empty()
	for _, h := range t.Slices {
		if h.State == Filling {
			h.State = Full
		}
		full.Slices = append(full.Slices, h)
	}
	return full.toward(want, false)
}

// without returns the table without the residue in cleared.
func (t Table) without(cleared []Interval) Table {
	out := t.empty()
	for _, h := range t.Slices {
		if h.State != Residue {
			out.Slices = append(out.Slices, h)
			continue
		}
		for _, part := range outside(Interval{h.Lo, h.Hi}, cleared) {
			h.Lo, h.Hi = part.Lo, part.Hi
			out.Slices = append(out.Slices, h)
		}
	}
	return out
}

// in returns the keys that are in a state.
func (t Table) in(s HeldState) []Interval {
	var out []Interval
	for _, h := range t.Slices {
		if h.State == s {
			out = appendInterval(out, Interval{h.Lo, h.Hi})
		}
	}
	return out
}

// delivered returns the keys whose items a node with this table and offset has
// and keeps up to date.
func (t Table) delivered(offset uint64) []Interval {
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

// sound reports whether a table and an offset are consistent: there is an offset
// exactly while something is Filling, and only what is Full is served.
func (t Table) sound(offset uint64) bool {
	filling := false
	for _, h := range t.Slices {
		filling = filling || h.State == Filling
		if h.State > Residue || h.State != Full && h.From != 0 {
			return false
		}
	}
	return t.check() == nil && filling == (offset != 0)
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

// outside returns the keys of v that lie in none of a list of disjoint ascending
// intervals.
func outside(v Interval, list []Interval) []Interval {
	var out []Interval
	for _, c := range list {
		if c.Hi < v.Lo || c.Lo > v.Hi {
			continue
		}
		if c.Lo > v.Lo {
			out = append(out, Interval{v.Lo, c.Lo - 1})
		}
		if c.Hi >= v.Hi {
			return out
		}
		v.Lo = c.Hi + 1
	}
	return append(out, v)
}

// within returns the keys of a list of disjoint ascending intervals that lie at
// from or after it and before offset; offset 0 is the ring's end.
func within(list []Interval, from Key, offset uint64) []Interval {
	hi := Key(offset - 1)
	var out []Interval
	for _, v := range list {
		if v.Lo, v.Hi = max(v.Lo, from), min(v.Hi, hi); v.Lo <= v.Hi {
			out = append(out, v)
		}
	}
	return out
}
