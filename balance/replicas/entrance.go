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

// entrance is the test that a slave must pass before masters ask it: it has everything that its
// shard serves, and all of it is certified. A slave gets all changes of the keys that it holds,
// so certified keys stay certified as long as the slave holds them.
type entrance struct {
	slave string
	shard balance.ShardID
	// revision is a revision in which the slave belongs to the shard. The slave may have
	// dropped since what it reported in earlier revisions.
	revision  uint64
	certified []balance.Interval // disjoint and ascending, no two touching
	waits     string             // what the slave waits for
	// goal is the view that was published when the entrance began. near is set once the slave
	// could serve that view as a member of the set.
	goal uint64
	near bool
}

// kept is what a slave served of a shard when it left the shard's set because it was late.
// These keys were certified, and the slave still gets their changes. So they need not be
// compared again when the slave is to rejoin, except those that it has lost or had to discard
// in the meantime.
type kept struct {
	shard balance.ShardID
	keys  []balance.Interval
}

// KeepHeld notes the keys that a slave serves when it is about to leave its set.
func (m *Membership) KeepHeld(name string) {
	n, f := m.Slave(name), m.filling(name)
	f.kept = kept{}
	if s, ok := m.Model.Slave(name); ok && !m.verify.DiscardsAny(name) {
		f.kept = kept{s.Shard, balance.Intersect(n.Table.In(balance.Full), m.Model.Table(s.Shard).ServedIn(n.Table.View))}
	}
}

// certifiedBefore returns the keys of a slave that is to join a set that are taken as certified
// before any comparison. They are limited to what the shard serves in a view that the slave has
// received: the slave may be about to drop an earlier copy of other keys.
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

// entrancesOf begins and ends entrances, so that there is one for each slave that is being
// filled.
func (m *Membership) entrancesOf(now time.Duration) {
	for name, w := range m.entrances {
		if s, ok := m.Model.Slave(name); !ok || s.In || s.Shard != w.shard {
			m.closeEntrance(w)
		}
	}
	for _, s := range m.Model.Slaves() {
		if s.Shard == 0 {
			m.filling(s.Name).kept = kept{} // a spare may delete everything
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

// retain limits the certified keys of a slave to those that it holds by its last report. If it
// loses a key, it may be refilled with it later, before anything compares it.
func (m *Membership) retain(name string) {
	full, f := m.Slave(name).Table.In(balance.Full), m.filling(name)
	f.kept.keys, f.copied = balance.Intersect(f.kept.keys, full), balance.Intersect(f.copied, full)
	if w := m.entrances[name]; w != nil {
		m.retainOf(w, full)
	}
}

// RetainServed limits the certified keys of slaves that are to join to what their shards serve
// in the newest model. It must be called for each model. When a shard gives away a slice, its
// slaves drop the slice, and must compare it if it comes back. Splits, merges and the start of
// a move do not change what they hold.
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

// enter checks how far a slave is from joining its set. It returns what the slave waits for, or
// "" if it may join.
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

// delayViews makes views wait for a slave that is to join, from the time that it could serve
// the view published when its entrance began. Otherwise, views that follow each other faster
// than the slave can receive or compare them would keep it out for ever. The slave may still be
// too slow. So views wait for it no longer than for other slaves, and after that for the same
// time for no joining slave: several slaves in turn could hold them up for ever.
func (m *Membership) delayViews(now time.Duration, w *entrance, serves uint64) {
	w.near = w.near || w.goal > 0 && serves >= w.goal
	if w.near {
		m.views.Delay(now, w.slave, serves, m.Config.DeadAfter)
	}
}

// compareHeld starts to compare what a slave holds of its shard, if it may be compared; what
// the shard was given first comes first. It returns the newest view that the slave could serve,
// and what it lacks for the newest view of all, or "" if it lacks nothing. A slice that the
// shard was given in a view that the slave has not received is treated as missing, since the
// slave may be about to drop an earlier copy of it.
func (m *Membership) compareHeld(w *entrance, may bool) (serves uint64, lacks string) {
	t := m.Slave(w.slave).Table
	served := t.EverServed()
	var open []balance.Held // slices that the slave has and that are not certified
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

// compareOldest begins to compare those slices of `open` that the shard was given first, as
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

// oldest returns the slices that the shard was given first, in that order, at most `most` of
// them. It leaves out slices that are being compared already.
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

// anyOverlaps reports whether any interval of a list, in any order, has a key of v.
func anyOverlaps(list []balance.Interval, v balance.Interval) bool {
	return slices.ContainsFunc(list, func(o balance.Interval) bool { return o.Lo <= v.Hi && v.Lo <= o.Hi })
}

// mustKnow returns the view that a slave must have received to join a set: the published one,
// which masters use. The newest view is not required, since there are several per second while
// slices move, and a slave that is always a little behind would never join.
//
// What the slave serves in the published view it also serves in the newest one. If the shard
// has served a slice since an earlier view, it has served it all the time, so the slave has
// dropped nothing of it. Later views are published only when the slave has them, since it is
// then in the set.
func (m *Membership) mustKnow() uint64 {
	if p := m.views.Published(); p != nil {
		return p.View()
	}
	return m.Model.View()
}

// Certified notes that a part of the data of a slave that is to join was found right.
func (m *Membership) Certified(f verify.Finding) {
	w := m.entrances[f.Of.Target]
	w.certified = balance.Union(w.certified, *f.Right)
	if f.Done {
		m.verify.DropJoined(f.Of)
	}
	m.next = 0
}

// Restarted forgets what was certified of a slave that has started again.
func (m *Membership) Restarted(name string) {
	f := m.filling(name)
	f.copied, f.source, f.kept = nil, "", kept{}
	if w := m.entrances[name]; w != nil {
		m.closeEntrance(w)
	}
}
