package freshness

import (
	"slices"
	"time"
)

// ages finds out how old changes are when answers first show them. Each group has
// versions. An answer shows one version, which includes all changes up to it. All times
// are relative to one moment. Its methods must not be called concurrently.
type ages struct {
	groups []history
}

// history is what is known about a group.
type history struct {
	waiting []version // committed but not yet in any answer, by number
	// seen holds the versions that answers showed, each with a higher number than those
	// before it.
	seen []version
}

// version is a version of a group and the time when it was committed or shown.
type version struct {
	number int
	at     time.Duration
}

func newAges(groups int) *ages { return &ages{groups: make([]history, groups)} }

// committed records that a version was committed. If an answer has already shown it,
// which can happen before the commit returns, committed returns its age.
func (a *ages) committed(group, number int, at time.Duration) (age time.Duration, shown bool) {
	h := &a.groups[group]
	i := slices.IndexFunc(h.seen, func(v version) bool { return v.number >= number })
	if i < 0 {
		h.waiting = append(h.waiting, version{number, at})
		return 0, false
	}
	return max(0, h.seen[i].at-at), true
}

// shown records that an answer which ended at a time showed a version. It returns the
// ages of the changes that no answer has shown before.
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

// pending returns the groups with changes that no answer has shown yet.
func (a *ages) pending() (out []int) {
	for g := range a.groups {
		if len(a.groups[g].waiting) > 0 {
			out = append(out, g)
		}
	}
	return out
}

// mixture measures how long answers mix old and new versions of groups that were all
// changed at once: from the first answer with a new version to the last with an old
// one.
type mixture struct {
	old       map[int]bool // groups that no answer has shown as new
	first     time.Duration
	last      time.Duration
	begun     bool
	allNew    time.Duration // when the last group was first shown as new
	remaining int
}

func newMixture(groups int) *mixture {
	m := &mixture{old: make(map[int]bool, groups), remaining: groups}
	for g := range groups {
		m.old[g] = true
	}
	return m
}

// answered records an answer that ended at a time.
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

// lasted returns how long answers were mixed, or 0 if none was.
func (m *mixture) lasted() time.Duration { return max(0, m.last-m.first) }
