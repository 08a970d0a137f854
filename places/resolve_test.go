package places

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"adshard/targeting"
)

func TestResolve(t *testing.T) {
	table, _ := Countries().With([]Row{row(1, 2203, "region"), {ID: 2, Name: "city", Parent: 1, Status: "Removal Planned"}, row(3, 2, "part")})
	all, unknown := table.Resolve([]uint32{2, 99, 2}, []uint32{3, 98, 99, 2840})
	want := []targeting.Place{
		{ID: 1, Presence: true, Interest: true, Depth: 2}, {ID: 2, Presence: true, Interest: true, Depth: 3}, {ID: 3, Interest: true, Depth: 4},
		{ID: 98, Interest: true, Depth: 1}, {ID: 99, Presence: true, Interest: true, Depth: 1},
		{ID: 2203, Presence: true, Interest: true, Depth: 1}, {ID: 2840, Interest: true, Depth: 1},
	}
	if !slices.Equal(all, want) || !slices.Equal(unknown, []uint32{98, 99}) {
		t.Errorf("%v without %v, not %v", all, unknown, want)
	}
	if all, unknown := table.Resolve(nil, nil); len(all)+len(unknown) > 0 {
		t.Errorf("%v without %v", all, unknown)
	}
}

// TestResolveWalks compares Resolve with the definition: a place contains itself, its children, and everything
// that these contain.
func TestResolveWalks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		table, _ := new(Table).With(draw(t, "rows"))
		ids := rapid.SliceOfN(rapid.Uint32Range(1, 16), 0, 5)
		presence, interest := ids.Draw(t, "presence"), ids.Draw(t, "interest")
		all, unknown := table.Resolve(presence, interest)
		var want []targeting.Place
		var lacking []uint32
		for id := uint32(1); id <= 16; id++ {
			within := func(b uint32) bool { return contains(table, id, b) }
			p := targeting.Place{ID: id, Presence: slices.ContainsFunc(presence, within), Interest: slices.ContainsFunc(interest, within), Depth: depth(table, id)}
			if p.Presence || p.Interest {
				want = append(want, p)
			}
			if _, there := table.Place(id); !there && (slices.Contains(presence, id) || slices.Contains(interest, id)) {
				lacking = append(lacking, id)
			}
		}
		if !slices.Equal(all, want) || !slices.Equal(unknown, lacking) {
			t.Fatalf("%v and %v in %q: %v without %v, not %v without %v", presence, interest, table.Text(), all, unknown, want, lacking)
		}
	})
}

// contains follows the definition: a is b, is b's parent, or contains b's parent.
func contains(table *Table, a, b uint32) bool {
	r, _ := table.Place(b)
	return a == b || r.Parent != 0 && contains(table, a, r.Parent)
}

func depth(table *Table, id uint32) int {
	if r, _ := table.Place(id); r.Parent != 0 {
		return 1 + depth(table, r.Parent)
	}
	return 1
}
