package places

import (
	"cmp"
	"maps"
	"slices"

	"adshard/targeting"
)

// Resolve returns the places where a user is and those that a query is about, with all places that contain them, sorted by
// id and without repetitions. unknown has those that the table lacks, sorted by id. Each of them is also in all, as a place
// without a parent.
func (t *Table) Resolve(presence, interest []uint32) (all []targeting.Place, unknown []uint32) {
	found := make(map[uint32]targeting.Place, 4*(len(presence)+len(interest)))
	for _, id := range presence {
		t.climb(id, func(p *targeting.Place) bool { was := p.Presence; p.Presence = true; return was }, found)
	}
	for _, id := range interest {
		t.climb(id, func(p *targeting.Place) bool { was := p.Interest; p.Interest = true; return was }, found)
	}
	for _, id := range slices.Concat(presence, interest) {
		if t.find(id) == nil {
			unknown = append(unknown, id)
		}
	}
	slices.Sort(unknown)
	all = slices.SortedFunc(maps.Values(found), func(a, b targeting.Place) int { return cmp.Compare(a.ID, b.ID) })
	return all, slices.Compact(unknown)
}

// climb marks a place and all places that contain it, up to the first that was already marked.
func (t *Table) climb(id uint32, mark func(*targeting.Place) (was bool), found map[uint32]targeting.Place) {
	for id != 0 {
		e := t.find(id)
		if e == nil {
			e = &entry{depth: 1}
		}
		p := targeting.Place{ID: id, Presence: found[id].Presence, Interest: found[id].Interest, Depth: int(e.depth)}
		if mark(&p) {
			return
		}
		found[id] = p
		id = e.parent
	}
}
