package replicas

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"adshard/balance"
	"adshard/balance/verify"
)

// entrance is what a slave must pass before masters ask it: everything that its
// shard serves is there and is certified. Changes come to all of a slave alike, so
// what was certified once stays so for as long as the slave holds it.
type entrance struct {
	slave string
	shard balance.ShardID
	// revision is one in which the slave belongs to the shard: what it said that it held in
	// an earlier one it may have dropped since.
	revision  uint64
	certified []balance.Interval // disjoint and ascending, no two touching
	waits     string             // what for
	// goal is the view that was published when the entrance opened; near is set once the
	// slave could serve it, as one of the set.
	goal uint64
	near bool
}

// kept is what a slave served of a shard when it left the shard's set, since it was late. It was
// certified, and changes come to the slave as before: it counts when the slave is to
// join again. What it loses in the meantime, or has to discard, does not.
type kept struct {
	shard balance.ShardID
	keys  []balance.Interval
}

// KeepHeld notes what a slave serves that is about to leave its set.
func (m *Membership) KeepHeld(name string) {
	n, f := m.Slave(name), m.filling(name)
	f.kept = kept{}
	if s, ok := m.Model.Slave(name); ok && !m.verify.DiscardsAny(name) {
		f.kept = kept{s.Shard, balance.Intersect(n.Table.In(balance.Full), m.Model.Table(s.Shard).ServedIn(n.Table.View))}
	}
}

// certifiedBefore returns what counts as certified of a slave that is to join a set, before any
// of it has been compared: of what its shard serves, and as far as it has heard of that. It
// may be about to drop the copy of an earlier time.
func (m *Membership) certifiedBefore(s balance.Slave) []balance.Interval {
	n, f := m.Slave(s.Name), m.filling(s.Name)
	before := f.certified(s.Shard)
	if f.kept.shard == s.Shard {
		for _, v := range f.kept.keys {
			before = balance.Union(before, v)
		}
	}
	f.kept = kept{}
	return balance.Intersect(before, m.Model.Table(s.Shard).ServedIn(n.Table.View))
}

// entrancesOf makes the entrances those of the slaves that are being filled.
func (m *Membership) entrancesOf(now time.Duration) {
	for name, w := range m.entrances {
		if s, ok := m.Model.Slave(name); !ok || s.In || s.Shard != w.shard {
			m.closeEntrance(w)
		}
	}
	for _, s := range m.Model.Slaves() {
		if s.Shard == 0 {
			m.filling(s.Name).kept = kept{} // it may delete all
		}
		if s.Shard != 0 && !s.In && m.entrances[s.Name] == nil {
			w := &entrance{slave: s.Name, shard: s.Shard, revision: m.Model.Revision(), certified: m.certifiedBefore(s)}
			if p := m.views.Published(); p != nil {
				w.goal = p.View()
			}
			m.entrances[s.Name] = w
		}
	}
	for _, name := range slices.Sorted(maps.Keys(m.entrances)) {
		w := m.entrances[name]
		m.views.DelayNoMore(w.slave)
		w.waits = m.enter(now, w)
	}
}

// retain cuts what counts as certified of a slave to what it holds by its last report: what
// it loses it may have again before anybody looks, filled anew.
func (m *Membership) retain(name string) {
	full, f := m.Slave(name).Table.In(balance.Full), m.filling(name)
	f.kept.keys, f.copied = balance.Intersect(f.kept.keys, full), balance.Intersect(f.copied, full)
	if w := m.entrances[name]; w != nil {
		m.retainOf(w, full)
	}
}

// RetainServed cuts what counts as certified of slaves that are to join to what their shards
// serve in the newest model, as of each: what a shard gives away its slaves drop, and compare
// when it is back. Splits, merges and the begin of a move change nothing of what they hold.
func (m *Membership) RetainServed() {
	for _, w := range m.entrances {
		m.retainOf(w, m.Model.Table(w.shard).EverServed())
	}
}

func (m *Membership) retainOf(w *entrance, keys []balance.Interval) {
	w.certified = balance.Intersect(w.certified, keys)
	m.verify.DropJoining(w.slave, keys)
}

func (m *Membership) closeEntrance(w *entrance) {
	delete(m.entrances, w.slave)
	m.views.DelayNoMore(w.slave)
	m.verify.DropJoining(w.slave, nil)
}

// enter looks how far a slave is from joining its set and returns what it waits for;
// "": it may join.
func (m *Membership) enter(now time.Duration, w *entrance) string {
	n := m.Slave(w.slave)
	switch {
	case !m.Alive(w.slave, now):
		return "it is lost"
	case n.Trouble != "":
		return "it is in trouble: " + n.Trouble
	case n.Copying != nil:
		return "it copies the store of " + n.Copying.Source
	case !n.Reported || n.Table.Revision < w.revision:
		return fmt.Sprintf("it has not received revision %d", w.revision)
	}
	current := now < n.CaughtUp+m.Config.DeadAfter
	serves, lacks := m.compareHeld(w, current && !m.verify.DiscardsAny(w.slave))
	switch {
	case m.verify.DiscardsAny(w.slave):
		return "it discards what differs from the source of truth"
	case !current && lacks == "":
		return "it has not applied all changes"
	}
	m.delayViews(now, w, serves)
	if view := m.mustKnow(); lacks == "" && n.Table.View < view {
		return fmt.Sprintf("it has not received view %d", view)
	}
	return lacks
}

// delayViews has views wait for a slave that is to join from when it has come close: it
// could serve what was published when it began. Views that follow faster than it gets them,
// or is compared, would keep it out for ever otherwise. It may be too slow all the same, so
// views wait for it no longer than for others, and then as long for none that is to join:
// several that took turns would hold them for ever.
func (m *Membership) delayViews(now time.Duration, w *entrance, serves uint64) {
	w.near = w.near || w.goal > 0 && serves >= w.goal
	if w.near {
		m.views.Delay(now, w.slave, serves, m.Config.DeadAfter)
	}
}

// compareHeld has what a slave has of its shard compared, what it was given first before
// the rest, if it may be. It returns the newest view that the slave could serve, and what it
// lacks for the newest of all; "": nothing. A slice that the shard was given in a view that
// the slave has not received is none that it has: it may be about to drop the copy of an
// earlier time.
func (m *Membership) compareHeld(w *entrance, may bool) (serves uint64, lacks string) {
	t := m.Slave(w.slave).Table
	served := t.EverServed()
	var open []balance.Held // it has them, and they are not certified
	serves = t.View
	for _, h := range m.Model.Table(w.shard).Slices {
		v := balance.Interval{Lo: h.Lo, Hi: h.Hi}
		there := h.InView(t.View) && balance.Covers(served, v)
		switch {
		case h.From == 0 || there && balance.Covers(w.certified, v):
			continue
		case !there:
			lacks = cmp.Or(lacks, fmt.Sprintf("it is being filled: slice %d is not complete", h.ID))
		default:
			open = append(open, h)
		}
		serves = min(serves, h.From-1)
	}
	if may {
		m.compareOldest(w, open)
	}
	if n := len(open); n > 0 {
		lacks = cmp.Or(lacks, fmt.Sprintf("%d slices are still to be compared with the source of truth, slice %d among them", n, open[0].ID))
	}
	return serves, lacks
}

// compareOldest begins to compare those of some slices that the shard was given first, as
// many as may be compared at once.
func (m *Membership) compareOldest(w *entrance, open []balance.Held) {
	compared, free := m.verify.JoiningChecks(w.slave)
	for _, h := range oldest(open, free, compared) {
		if free <= 0 {
			return
		}
		free -= m.verify.CompareJoining(w.slave, h, balance.Outside(balance.Interval{Lo: h.Lo, Hi: h.Hi}, w.certified)[0])
	}
}

// oldest returns those of some slices that are not being compared and that the shard was given
// first, up to a number, the first one first.
func oldest(open []balance.Held, most int, compared []balance.Interval) (list []balance.Held) {
	for _, h := range open {
		if most <= 0 || len(list) == most && h.From >= list[most-1].From || anyOverlaps(compared, balance.Interval{Lo: h.Lo, Hi: h.Hi}) {
			continue
		}
		i := len(list)
		for i > 0 && list[i-1].From > h.From {
			i--
		}
		list = slices.Insert(list[:min(len(list), most-1)], min(i, most-1), h)
	}
	return list
}

// anyOverlaps reports whether one of some intervals, in any order, has a key in v.
func anyOverlaps(list []balance.Interval, v balance.Interval) bool {
	return slices.ContainsFunc(list, func(o balance.Interval) bool { return o.Lo <= v.Hi && v.Lo <= o.Hi })
}

// mustKnow returns the view that a slave must have received to join a set: the published
// one, which masters ask for. The newest view is not required: while slices move there are
// several a second, and a slave that is always a little behind would never join.
//
// What the slave serves by then it also serves in the newest view: a slice that the shard
// serves since a view before has been the shard's all the time, so the slave has dropped
// nothing of it. Later views are published when the slave has them, as one of the set.
func (m *Membership) mustKnow() uint64 {
	if p := m.views.Published(); p != nil {
		return p.View()
	}
	return m.Model.View()
}

// Certified notes that a part of what a slave holds that is to join is right.
func (m *Membership) Certified(f verify.Finding) {
	w := m.entrances[f.Of.Target]
	w.certified = balance.Union(w.certified, *f.Right)
	if f.Done {
		m.verify.DropJoined(f.Of)
	}
	m.next = 0
}

// Restarted forgets what was certified on a slave that has started again.
func (m *Membership) Restarted(name string) {
	f := m.filling(name)
	f.copied, f.source, f.kept = nil, "", kept{}
	if w := m.entrances[name]; w != nil {
		m.closeEntrance(w)
	}
}
