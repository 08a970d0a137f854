package balance

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// small is the size of the ring on which tables are compared key by key; all
// higher keys belong to the last of these.
const small = 24

// drawTable draws disjoint slices of the small ring. The end of every third is
// the end of the ring.
func drawTable(t *rapid.T, name string, draw func(h *Held)) Table {
	out := Table{View: rapid.Uint64Range(1, 9).Draw(t, name+" view"), Least: rapid.Uint64Range(0, 3).Draw(t, name+" least")}
	id := uint64(1)
	for k := Key(rapid.IntRange(0, 3).Draw(t, name+" from")); k < small; id++ {
		h := Held{ID: id, Lo: k, Hi: k + Key(rapid.IntRange(0, 5).Draw(t, name+" width")), Generation: rapid.Uint64Range(1, 3).Draw(t, name+" generation")}
		draw(&h)
		k = h.Hi + 1 + Key(rapid.SampledFrom([]int{0, 0, 1, 3}).Draw(t, name+" gap"))
		if h.Hi >= small-1 && rapid.Bool().Draw(t, name+" end") {
			h.Hi = MaxKey
		}
		out.Slices = append(out.Slices, h)
	}
	return out
}

// at returns the slice of a key in a table; ok is false if there is none.
func (t Table) at(k Key) (Held, bool) {
	for _, h := range t.Slices {
		if h.Lo <= k && k <= h.Hi {
			return h, true
		}
	}
	return Held{}, false
}

// keys returns all keys that differ on the small ring.
func keys() []Key {
	var out []Key
	for k := Key(0); k < small+8; k++ {
		out = append(out, k)
	}
	return append(out, MaxKey)
}

// TestTowardKeyByKey compares the next table with what each key must be.
func TestTowardKeyByKey(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		have := drawTable(t, "have", func(h *Held) {
			h.State = HeldState(rapid.IntRange(0, 2).Draw(t, "state"))
			if h.State == Full {
				h.From = rapid.Uint64Range(0, 2).Draw(t, "from")
			}
		})
		want := drawTable(t, "want", func(h *Held) {
			h.From = rapid.Uint64Range(0, 3).Draw(t, "from")
			h.Until = rapid.Uint64Range(0, 1).Draw(t, "until") * (h.From + 1)
		})
		begin := rapid.Bool().Draw(t, "begin")
		next := have.Toward(want, begin)
		if err := next.Check(); err != nil {
			t.Fatal(err)
		}
		if next.View != want.View || next.Least != want.Least {
			t.Fatalf("view %d, least %d", next.View, next.Least)
		}
		for _, k := range keys() {
			got, ok := next.at(k)
			if told, must := tell(got, ok), slowly(have, want, begin, k); told != must {
				t.Fatalf("key %d: %s, wanted %s", k, told, must)
			}
		}
		served(t, next, want)
		if again := next.Toward(want, false); !again.Equal(next) {
			t.Fatalf("%v becomes %v", next, again)
		}
		full := next.Completed(want)
		if len(full.In(Filling)) > 0 || !slices.Equal(next.In(Residue), full.In(Residue)) {
			t.Fatalf("%v filled is %v", next, full)
		}
		served(t, full, want)
	})
}

func tell(h Held, ok bool) string {
	if !ok {
		return "nothing"
	}
	return fmt.Sprintf("%d of slice %d, generation %d", h.State, h.ID, h.Generation)
}

// slowly computes the state of a key in the next table.
func slowly(have, want Table, begin bool, k Key) string {
	h, held := have.at(k)
	w, wanted := want.at(k)
	as := func(h Held, s HeldState) string { h.State = s; return tell(h, true) }
	switch {
	case !held && !wanted:
		return "nothing"
	case !wanted:
		return as(h, Residue)
	case !held && !begin:
		return "nothing"
	case !held, h.State == Residue && begin:
		return as(w, Filling)
	case h.State == Residue:
		return as(h, Residue)
	}
	return as(w, h.State)
}

// served checks that exactly the slices that are Full throughout are served as
// wanted, each in one piece.
func served(t *rapid.T, next, want Table) {
	for _, h := range next.Slices {
		w, wanted := want.at(h.Lo)
		if wanted && h.State == Full && h.Lo == w.Lo && h.Hi == w.Hi {
			if h.From != w.From || h.Until != w.Until {
				t.Fatalf("%v is served, wanted %v", h, w)
			}
		} else if h.From != 0 || h.Until != 0 {
			t.Fatalf("%v is served", h)
		}
	}
	for _, w := range want.Slices {
		full := true
		for k := w.Lo; k <= min(w.Hi, small+8); k++ {
			h, ok := next.at(k)
			full = full && ok && h.State == Full
		}
		if h, _ := next.at(w.Lo); full && h.Hi < min(w.Hi, small+8) {
			t.Fatalf("%v is full and lies in parts: %v", w, next)
		}
	}
}

// TestDeliveredAndCleared compares the lists of keys with single keys.
func TestDeliveredAndCleared(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		have := drawTable(t, "have", func(h *Held) { h.State = HeldState(rapid.IntRange(0, 2).Draw(t, "state")) })
		offset := rapid.Uint64Range(0, small+2).Draw(t, "offset")
		lo := Key(rapid.Uint64Range(0, small).Draw(t, "lo"))
		cleared := Within(have.In(Residue), lo, offset)
		rest := have.Without(cleared)
		for _, k := range keys() {
			h, ok := have.at(k)
			if got, want := Contains(have.Delivered(offset), k), ok && (h.State == Full || h.State == Filling && uint64(k) < offset); got != want {
				t.Fatalf("key %d is delivered: %v", k, got)
			}
			if got, want := Contains(have.In(Residue), k), ok && h.State == Residue; got != want {
				t.Fatalf("key %d is residue: %v", k, got)
			}
			gone := ok && h.State == Residue && k >= lo && (offset == 0 || uint64(k) < offset)
			if got := Contains(cleared, k); got != gone {
				t.Fatalf("key %d is cleared: %v", k, got)
			}
			if _, stays := rest.at(k); stays != (ok && !gone) {
				t.Fatalf("key %d stays: %v", k, stays)
			}
		}
	})
}
