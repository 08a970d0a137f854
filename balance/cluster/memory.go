package cluster

import (
	"slices"
	"time"
)

// memory keeps the last maxDecisions decisions about each of the maxRemembered slices
// with the most recent decisions.
type memory struct {
	slices map[uint64]*remembered
	// oldest and newest are the ends of a list that is ordered by the time of the last
	// decision.
	oldest, newest *remembered
}

type remembered struct {
	slice        uint64
	older, newer *remembered
	list         []Decision
}

// Decision is a decision about a slice, or its outcome.
type Decision struct {
	// At is the mapper's time when the decision was last made.
	At    time.Duration
	Text  string
	Times int
}

const (
	maxDecisions  = 5
	maxRemembered = 10_000
)

func newMemory() memory { return memory{slices: map[uint64]*remembered{}} }

// Add records a decision. If it equals the last decision about the slice, only the
// count of that grows.
func (m *memory) Add(now time.Duration, slice uint64, text string) {
	r := m.slices[slice]
	if r == nil {
		r = &remembered{slice: slice}
		m.slices[slice] = r
		if len(m.slices) > maxRemembered {
			delete(m.slices, m.oldest.slice)
			m.unlink(m.oldest)
		}
	} else {
		m.unlink(r)
	}
	r.older = m.newest
	if m.newest != nil {
		m.newest.newer = r
	}
	if m.newest = r; m.oldest == nil {
		m.oldest = r
	}
	if n := len(r.list); n > 0 && r.list[n-1].Text == text {
		r.list[n-1].At = now
		r.list[n-1].Times++
		return
	}
	if len(r.list) == maxDecisions {
		r.list = append(r.list[:0], r.list[1:]...)
	}
	r.list = append(r.list, Decision{At: now, Text: text, Times: 1})
}

// Of returns the last decisions about a slice, beginning with the oldest.
func (m *memory) Of(slice uint64) []Decision {
	if r := m.slices[slice]; r != nil {
		return slices.Clone(r.list)
	}
	return nil
}

func (m *memory) unlink(r *remembered) {
	if r.older != nil {
		r.older.newer = r.newer
	} else {
		m.oldest = r.newer
	}
	if r.newer != nil {
		r.newer.older = r.older
	} else {
		m.newest = r.older
	}
	r.older, r.newer = nil, nil
}
