package transfer

import (
	"slices"
	"time"

	"adshard/balance"
	"adshard/balance/verify"
)

// arrival is the copy of a moving slice on one of the slaves in the set of its target. Each copy is
// compared with the source of truth separately.
type arrival struct {
	move    *activeMove
	slave   string
	check   *verify.Comparison
	arrived bool // the slave has the whole slice
}

// done reports whether the copy is certified.
func (a *arrival) done() bool { return a.arrived && a.check.Done() }

// arrive updates the arrivals of a move, so that there is one for each slave in its target's set, and
// returns the new ones.
func (m *Moves) arrive(v *activeMove) (fresh []*arrival) {
	old := v.arrivals
	v.arrivals = nil
	for _, s := range m.Model.Set(v.b) {
		i := slices.IndexFunc(old, func(a *arrival) bool { return a.slave == s.Name })
		if i >= 0 {
			v.arrivals = append(v.arrivals, old[i])
			continue
		}
		a := &arrival{move: v, slave: s.Name}
		a.check = m.verify.CompareMove(v.a, v.cause.Away || v.cause.Commanded, balance.Slice{
			ID: v.id, Generation: v.generation, Lo: v.lo, Hi: v.hi,
		}, s.Name)
		if m.arriving[s.Name] == nil {
			m.arriving[s.Name] = map[uint64]*arrival{}
		}
		m.arriving[s.Name][v.id] = a
		v.arrivals, fresh = append(v.arrivals, a), append(fresh, a)
	}
	for _, a := range old {
		if !slices.Contains(v.arrivals, a) {
			m.dropArrival(a)
		}
	}
	m.verify.SetMove(v.id, v.checks())
	return fresh
}

// checks returns the comparisons of a move's copies.
func (v *activeMove) checks() (list []*verify.Comparison) {
	for _, a := range v.arrivals {
		list = append(list, a.check)
	}
	return list
}

// arrivalOn returns the copy on a slave, which must exist.
func (v *activeMove) arrivalOn(slave string) *arrival {
	return v.arrivals[slices.IndexFunc(v.arrivals, func(a *arrival) bool { return a.slave == slave })]
}

// uncertify forgets which parts of a copy were found equal.
func (m *Moves) uncertify(a *arrival) {
	m.verify.Restart(a.check)
	if !slices.ContainsFunc(a.move.arrivals, (*arrival).done) {
		a.move.first = 0
	}
	if a.arrived {
		m.verify.Enqueue(a.check)
	}
}

// dropArrival forgets the copy on a slave that is no longer waited for.
func (m *Moves) dropArrival(a *arrival) {
	m.verify.GiveUp(a.check)
	if m.arriving[a.slave][a.move.id] == a {
		delete(m.arriving[a.slave], a.move.id)
	}
}

// least returns the copy that is farthest from being certified, on a slave that is alive if there is
// one. It returns nil if there are no copies.
func (m *Moves) least(now time.Duration, v *activeMove) (worst *arrival) {
	rank := func(a *arrival) int {
		n := a.check.Bins()
		if a.done() {
			n += 2 * balance.Bins
		} else if a.arrived {
			n += balance.Bins
		}
		if !m.Alive(a.slave, now) {
			n += 4 * balance.Bins
		}
		return n
	}
	for _, a := range v.arrivals {
		if worst == nil || rank(a) < rank(worst) {
			worst = a
		}
	}
	return worst
}

// enough is the number of replicas that should be certified before a switch, if that many are alive:
// new copies should be on more than one machine before queries rely on them.
const enough = 2

// agreed reports whether the copies of a move suffice for its switch. Every living slave of the
// target's set must be certified, or be late and leave the set. A certified slave must have been heard
// from a moment ago. Slaves that leave the set by the edit e are left out.
func (m *Moves) agreed(now time.Duration, v *activeMove, e *balance.Edit) bool {
	certified, living, answers := 0, 0, false
	for _, a := range v.arrivals {
		if !e.Keeps(a.slave) || !m.Alive(a.slave, now) {
			continue
		}
		living++
		if a.done() {
			certified++
			answers = answers || m.HeardLately(a.slave, now)
		}
	}
	return answers && (certified == living || now >= m.deadline(v, certified))
}

// deadline returns when a move stops waiting for slaves that are not certified. If enough others are
// certified, this is when the others have had twice the time of the first one. Otherwise it is four
// times, since each slave that is left out leaves the shard with one copy fewer.
func (m *Moves) deadline(v *activeMove, certified int) time.Duration {
	first := v.first - v.since
	if certified >= enough {
		return v.first + first + m.Config.DeadAfter
	}
	return v.first + 3*first + m.Config.Stall
}

// late returns the slaves of the target's set that must leave it when the slice is switched, since
// they do not have everything that the shard then serves.
func (m *Moves) late(now time.Duration, v *activeMove) (names []string) {
	for _, a := range v.arrivals {
		if !a.done() || !m.Alive(a.slave, now) {
			names = append(names, a.slave)
		}
	}
	return names
}

// queueIfReady queues a move for its switch if its copies suffice.
func (m *Moves) queueIfReady(now time.Duration, v *activeMove) {
	if !v.isReady && v.first > 0 && m.switchable(now, v, nil) {
		v.isReady = true
		m.ready = append(m.ready, v)
	}
}

// Arrived notes which moving slices a slave has completely, by its table. It takes time in proportion
// to the number of both.
func (m *Moves) Arrived(now time.Duration, slave string) {
	arriving := m.arriving[slave]
	if len(arriving) == 0 {
		return
	}
	there := make(map[uint64]bool, len(arriving))
	for _, h := range m.Slave(slave).Table.Slices {
		if a := arriving[h.ID]; a != nil && a.move.matches(h) {
			there[h.ID] = true
			if !a.arrived {
				a.arrived, a.move.progress = true, now
				a.check.Suspend(a.move.doomed != "")
				m.verify.Enqueue(a.check)
			}
		}
	}
	for id, a := range arriving {
		if !there[id] && a.arrived {
			a.arrived = false
			a.check.Suspend(true)
			m.uncertify(a)
		}
	}
}

// Compared continues with a move whose copy has been found right so far.
func (m *Moves) Compared(now time.Duration, f verify.Finding) {
	v := m.all[f.Of.Id]
	if f.Came {
		v.progress = now
	}
	if !f.Done {
		return
	}
	if v.first == 0 {
		v.first = max(now, 1)
	}
	m.queueIfReady(now, v)
}

// missing returns the keys that must still arrive or be compared before a copy is certified. It
// includes other keys that the slave is being filled with, since they may come first.
func (m *Moves) missing(a *arrival) []balance.Interval {
	switch {
	case a.done():
		return nil
	case a.arrived:
		return []balance.Interval{{Lo: a.check.From(), Hi: a.move.hi}}
	}
	n := m.Slave(a.slave)
	there := n.Table.Delivered(n.Position.Offset)
	out := balance.Outside(balance.Interval{Lo: a.move.lo, Hi: a.move.hi}, there)
	for _, v := range n.Table.In(balance.Filling) {
		out = append(out, balance.Outside(v, there)...)
	}
	return out
}
