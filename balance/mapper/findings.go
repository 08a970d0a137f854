package mapper

import (
	"time"

	"adshard/balance"
	"adshard/balance/cluster"
	"adshard/balance/replicas"
	"adshard/balance/transfer"
	"adshard/balance/verify"
)

// findings passes the results of comparisons to the machines that wait for them.
type findings struct {
	*cluster.Cluster
	verify  *verify.Verifier
	moves   *transfer.Moves
	members *replicas.Membership
}

// found lets the machine that asked for a comparison continue with its result.
func (m *findings) found(now time.Duration, f verify.Finding) {
	switch {
	case f.Differs():
		m.differs(now, f)
	case f.Of.Purpose == verify.Moving:
		m.moves.Compared(now, f)
	case f.Of.Purpose == verify.Joining && f.Right != nil:
		m.members.Certified(f)
	}
}

// differs cancels a move, and orders the slaves whose data differ to stop serving the
// slice.
func (m *findings) differs(now time.Duration, f verify.Finding) {
	c := f.Of
	switch c.Purpose {
	case verify.Joining:
		m.verify.DropJoined(c)
		if v := m.Model.At(c.All.Lo); v.ID != c.Id || v.Generation != c.Generation {
			return // the slice has changed since, and will be compared again
		}
	case verify.Moving:
		m.moves.Differs(now, f)
	}
	if f.Source != "" {
		m.condemn(now, c.Source, c, f.Source)
	}
	if f.Target != "" {
		m.condemn(now, c.Target, c, f.Target)
	}
}

// condemn makes a slave stop serving a slice, and forbids copies of the slave's store.
func (m *findings) condemn(now time.Duration, slave string, c *verify.Comparison, what string) {
	if m.verify.Discards(slave, c.Id) {
		return
	}
	m.members.Distrust(slave)
	m.verify.Discard(now, slave, c, what)
}

// Awaits reports whether the answer to a question is still expected. The move may have
// ended, or the question may have been asked again.
func (m *Mapper) Awaits(seq uint64) bool { return m.verify.Awaits(seq) }

// Certified takes answers. An answer that is no longer expected is ignored.
func (m *Mapper) Certified(now time.Duration, answers ...balance.Certified) {
	now = m.Time.At(now)
	for _, a := range answers {
		m.verify.Answered(now, a)
	}
	m.step(now)
}
