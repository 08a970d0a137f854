package freshness

import (
	"slices"
	"time"
)

// ages finds how old changes are when answers first show them. Each group has versions,
// of which an answer shows one: it has all changes up to it. Times count from one
// moment. It is for one goroutine at a time.
type ages struct {
	groups []history
}

// history is what is known of a group.
type history struct {
	waiting []version // committed, and in no answer yet, by number
	// seen are the versions that were in answers before later ones were, by number.
	seen []version
}

// version is one of a group, and when it was committed, or was in an answer.
type version struct {
	number int
	at     time.Duration
}

func newAges(groups int) *ages { return &ages{groups: make([]history, groups)} }

// committed notes that a version was committed, and returns its age if an answer, which
// may come before the commit returns, has shown it already.
func (a *ages) committed(group, number int, at time.Duration) (age time.Duration, shown bool) {
	h := &a.groups[group]
	i := slices.IndexFunc(h.seen, func(v version) bool { return v.number >= number })
	if i < 0 {
		h.waiting = append(h.waiting, version{number, at})
		return 0, false
	}
	return max(0, h.seen[i].at-at), true
}

// shown notes a version in an answer that ended at a time, and returns the ages of the
// changes that no answer has shown before.
func (a *ages) shown(group, number int, at time.Duration) (out []time.Duration) {
	h := &a.groups[group]
	if n := len(h.seen); n == 0 || h.seen[n-1].number < number {
		h.seen = append(h.seen, version{number, at})
	}
	n := 0
	for n < len(h.waiting) && h.waiting[n].number <= number {
		out = append(out, max(0, at-h.waiting[n].at))
		n++
	}
	h.waiting = h.waiting[n:]
	return out
}

// pending are the groups with changes that no answer has shown.
func (a *ages) pending() (out []int) {
	for g := range a.groups {
		if len(a.groups[g].waiting) > 0 {
			out = append(out, g)
		}
	}
	return out
}

// mixture finds how long answers mix the old and the new of groups that were changed at
// once: from the first answer with a new one to the last with an old one.
type mixture struct {
	old       map[int]bool // groups that no answer has shown as new
	first     time.Duration
	last      time.Duration
	begun     bool
	allNew    time.Duration // when the last group was new
	remaining int
}

func newMixture(groups int) *mixture {
	m := &mixture{old: make(map[int]bool, groups), remaining: groups}
	for g := range groups {
		m.old[g] = true
	}
	return m
}

// answered notes an answer that ended at a time.
func (m *mixture) answered(group int, isNew bool, at time.Duration) {
	switch {
	case !isNew && m.begun:
		m.last = at
	case isNew && m.old[group]:
		if !m.begun {
			m.begun, m.first = true, at
		}
		delete(m.old, group)
		m.remaining--
		m.allNew = at
	}
}

// lasted is how long answers were mixed; 0: none was.
func (m *mixture) lasted() time.Duration { return max(0, m.last-m.first) }
