package targeting

import (
	"cmp"
	"slices"

	"github.com/cespare/xxhash/v2"
)

// segments are the audience segments that a campaign or group names, excluded ones first.
type segments struct {
	list  []namedSegment
	needs bool // whether users must belong to one of the targeted segments
}

type namedSegment struct {
	hash               uint64
	id                 string
	modifier           uint16 // permille; 0 if excluded
	required, excluded bool
}

func compileAudiences(a *Audiences) *segments {
	out := &segments{needs: len(a.Target) > 0}
	add := func(s Segment, required, excluded bool) {
		n := namedSegment{hash: xxhash.Sum64String(s.ID), id: s.ID, modifier: s.Modifier, required: required, excluded: excluded}
		if excluded {
			n.modifier = 0
		}
		out.list = append(out.list, n)
	}
	for _, s := range a.Exclude {
		add(s, false, true)
	}
	for _, s := range a.Target {
		add(s, true, false)
	}
	for _, s := range a.Observe {
		add(s, false, false)
	}
	behind := out.list[len(a.Exclude):]
	slices.SortStableFunc(behind, func(x, y namedSegment) int { return cmp.Compare(x.id, y.id) })
	return out
}

// segmentTable finds the audience segments of a request. The zero value is ready to be filled.
type segmentTable struct {
	slots []segmentSlot // by hash, open addressing
	made  bool          // whether it was made for this request
}

type segmentSlot struct {
	hash uint64
	id   string // "" if the slot is free
}

func (t *segmentTable) reset() { t.made = false }

// of makes the table of a request's audience segments, only once per request.
func (t *segmentTable) of(list []string) {
	if t.made {
		return
	}
	size := 8
	for size < 4*len(list) {
		size *= 2
	}
	if size > cap(t.slots) {
		t.slots = make([]segmentSlot, size)
	}
	t.slots, t.made = t.slots[:size], true
	clear(t.slots)
	for _, id := range list {
		hash := xxhash.Sum64String(id)
		i := hash & uint64(size-1)
		for t.slots[i].id != "" {
			i = (i + 1) & uint64(size-1)
		}
		t.slots[i] = segmentSlot{hash, id}
	}
}

// has reports whether the request has the segment with this hash and id.
func (t *segmentTable) has(hash uint64, id string) bool {
	mask := uint64(len(t.slots) - 1)
	for i := hash & mask; ; i = (i + 1) & mask {
		switch s := &t.slots[i]; {
		case s.hash == hash && s.id == id:
			return true
		case s.id == "":
			return false
		}
	}
}
