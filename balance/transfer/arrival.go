package transfer

import (
	"slices"
	"time"

	"adshard/balance"
	"adshard/balance/verify"
)

// arrival is the copy of a moving slice on one of the slaves that are in the set of
// its target. Each is compared with the source of truth by itself.
type arrival struct {
	move    *activeMove
	slave   string
	check   *verify.Comparison
	arrived bool // the slave has all of it
}

// done reports whether the copy is certified.
func (a *arrival) done() bool { return a.arrived && a.check.Done() }

// arrive makes the move's arrivals those of the slaves that are in its target's set
// now, and returns those that are new.
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

// arrivalOn returns the copy on a slave.
func (v *activeMove) arrivalOn(slave string) *arrival {
	return v.arrivals[slices.IndexFunc(v.arrivals, func(a *arrival) bool { return a.slave == slave })]
}

// uncertify forgets what was found equal.
func (m *Moves) uncertify(a *arrival) {
	m.verify.Restart(a.check)
	if !slices.ContainsFunc(a.move.arrivals, (*arrival).done) {
		a.move.first = 0
	}
	if a.arrived {
		m.verify.Enqueue(a.check)
	}
}

// dropArrival forgets the copy of a slave that is not waited for any more.
func (m *Moves) dropArrival(a *arrival) {
	m.verify.GiveUp(a.check)
	if m.arriving[a.slave][a.move.id] == a {
		delete(m.arriving[a.slave], a.move.id)
	}
}

// least returns the copy that is farthest from being certified, of slaves that are
// alive if there are any; nil: there is none.
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

// enough is how many replicas are certified before a switch, if so many live: data
// just copied lie on more than one machine before anybody relies on them.
const enough = 2

// agreed reports whether the copies of a move suffice for its switch: every slave of
// the target's set that is alive is certified, or is late and leaves the set, and one that is
// certified was heard from a moment ago. Those that leave the set with an edit do not count.
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

// deadline returns when a move no longer waits for slaves that are not certified: if
// enough others are, once they have had twice the time of the first one; else
// four times, since each one that is left out leaves a shard without a spare copy.
func (m *Moves) deadline(v *activeMove, certified int) time.Duration {
	first := v.first - v.since
	if certified >= enough {
		return v.first + first + m.Config.DeadAfter
	}
	return v.first + 3*first + m.Config.Stall
}

// late returns the slaves of the target's set that have to leave it when the slice is
// switched: they do not serve all of the shard then.
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

// Arrived notes which moves to a slave have arrived by its table, in time proportional to both.
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

// Compared goes on with a move whose copy is right so far.
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

// missing returns the keys that are still to arrive or to be compared before a copy is certified. What
// else its slave is being filled with may come before it.
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
