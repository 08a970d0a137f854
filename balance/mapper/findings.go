package mapper

import (
	"time"

	"adshard/balance"
)

// found has the machine whose copy was compared go on.
func (m *Mapper) found(now time.Duration, f finding) {
	switch {
	case f.differs():
		m.differs(now, f)
	case f.c.purpose == moving:
		m.moves.compared(now, f)
	case f.c.purpose == joining && f.right != nil:
		m.members.certified(f)
	}
}

// differs cancels a move, and orders the nodes that differ to stop serving the slice.
func (m *Mapper) differs(now time.Duration, f finding) {
	c := f.c
	switch c.purpose {
	case joining:
		m.verify.dropJoined(c)
		if v := m.cluster.model.At(c.all.Lo); v.ID != c.id || v.Generation != c.generation {
			return // it is another one by now, and compared again
		}
	case moving:
		m.moves.differs(now, f)
	}
	if f.source != "" {
		m.condemn(now, c.source, c, f.source)
	}
	if f.target != "" {
		m.condemn(now, c.target, c, f.target)
	}
}

// condemn has a node stop serving a slice, and trusts no copy of the node's store.
func (m *Mapper) condemn(now time.Duration, node string, c *comparison, what string) {
	if m.verify.condemns(node, c.id) {
		return
	}
	m.members.distrust(node)
	m.verify.condemn(now, node, c, what)
}

// Awaits reports whether an answer to a question is still awaited: its move may
// have ended, or it may have been asked again.
func (m *Mapper) Awaits(seq uint64) bool { return m.verify.awaits(seq) }

// Certified takes answers; one that is no longer awaited is ignored.
func (m *Mapper) Certified(now time.Duration, answers ...balance.Certified) {
	now = m.time.at(now)
	for _, a := range answers {
		m.verify.answered(now, a)
	}
	m.step(now)
}
