package sim

import (
	"fmt"
	"slices"
	"time"

	"adshard/balance"
)

// An answer may lack a part of the ring only in certain cases. Each slave in the set of
// the shard that serves the part, in the query's view, must have been unwell itself
// while the query was under way:
//
//   - down, or not yet caught up after its start;
//   - cut off from the master that asked;
//   - busy for longer than the query's deadline;
//   - without data that it is to serve: it is being filled for the first time, or has
//     discarded damaged data; or its disk was full, or the balancer continued without
//     it while it could not be heard, and it has not got the newest view since;
//   - no longer in the set: it is late, lost, differs, or is needed elsewhere.
//
// There is one more excuse. A master may start when a balancer has just started too and
// has no view that all slaves have acknowledged. The master then gets the newest
// durable view, since it would have no answers at all otherwise, and slaves that do not
// know that view reject it. The same is true of a master that starts while there is no
// balancer and some slave cannot be heard: that slave may not know the view of the
// others.
//
// After its recovery a slave is not excused for any further time, and no slave is
// excused by what happens to another process.

// health is the state of health of a slave.
type health struct {
	// whole says that the slave has had all data that it is to serve at some time since
	// its last start, since its disk was last full, and since the balancer last gave it
	// up.
	whole bool
	// now says why the slave is unwell, or is "" if it is well. until is the last
	// moment at which it was unwell, and why is the reason at that moment.
	now, why string
	until    time.Duration
}

// pastCut is a cut with its beginning. It is kept after the cut has ended.
type pastCut struct {
	cut
	from time.Duration
}

// examine updates the health of each slave. It is called after every event.
func (c *checks) examine() {
	for _, s := range c.w.slaves {
		h := &s.health
		if h.now != "" {
			h.until, h.why = c.w.now, h.now // the slave was unwell until this event
		}
		if h.now = c.unwell(s); h.now != "" {
			h.until, h.why = c.w.now, h.now
		}
	}
}

// unwell says why a slave may leave queries of any master unanswered now, or returns ""
// if it may not.
func (c *checks) unwell(s *slave) string {
	whole := c.isWhole(s)
	switch {
	case !s.up:
		return "it is down"
	case !s.caughtUp:
		return "it has not caught up"
	case !c.isAsked(s):
		return "it is in the set of no shard"
	case !whole:
		return "it lacks what it is to serve"
	case s.busy > c.w.now+c.w.times.query-4*c.w.cfg.Latency:
		return "it is busy"
	}
	return ""
}

// isAsked reports whether masters are to ask a slave.
func (c *checks) isAsked(s *slave) bool {
	if c.newest == nil {
		return true
	}
	v, known := c.newest.Slave(s.name)
	return v.In || !known
}

// isWhole reports whether a slave has had, at some time since its last start, all data
// that it is to serve.
func (c *checks) isWhole(s *slave) bool {
	if s.health.whole || c.newest == nil {
		return s.health.whole
	}
	if _, known := c.newest.Slave(s.name); !known {
		return false
	}
	t := s.disk.table
	want := c.newest.TableOf(s.name)
	if s.shard(t) != s.shard(want) {
		return false
	}
	lacks := func(h balance.Held) bool { return h.From != 0 && !slices.Contains(t.Slices, h) }
	s.health.whole = t.View >= want.View && !slices.ContainsFunc(want.Slices, lacks)
	return s.health.whole
}

// published notes that a balancer publishes a view. Slaves that do not have the view
// and that the balancer could not hear are given up until they have the newest one.
func (c *checks) published(b *balancer, view uint64) {
	for _, s := range c.w.slaves {
		heard := max(b.began, b.hears[s.name])
		if s.disk.table.View < view && (c.w.now >= heard+c.w.cfg.Mapper.DeadAfter || b.jumped >= heard) {
			s.health.whole = false
		}
	}
	c.dirty = true
}

// owner is a shard with the keys of a gap that it is to serve.
type owner struct {
	shard  balance.ShardID
	lo, hi balance.Key
}

// ownersOf returns the shards that are to serve the keys of a gap.
func ownersOf(m *balance.Model, gap balance.Interval) (list []owner) {
	for _, v := range m.Slices() {
		if v.Hi < gap.Lo || v.Lo > gap.Hi {
			continue
		}
		list = append(list, owner{v.Shard, max(v.Lo, gap.Lo), min(v.Hi, gap.Hi)})
	}
	return list
}

// unexcused says for which part of the gaps in a view there is no excuse, or returns ""
// if there is one for all. sets has the slaves, one of which must serve each part. ill
// reports whether a slave may leave gaps.
func (c *checks) unexcused(view uint64, sets *balance.Model, gaps []balance.Interval, ill func(*slave) bool) string {
	m := c.w.maps[view]
	if m == nil {
		return "the view was never durable"
	}
	for _, gap := range gaps {
		for _, o := range ownersOf(m, gap) {
			for _, v := range sets.Set(o.shard) {
				if s := c.w.slave(v.Name); s != nil && !ill(s) {
					return fmt.Sprintf("%s is well and does not serve %x to %x (last unwell at %v: %s)",
						s.name, uint64(o.lo), uint64(o.hi), s.health.until, s.health.why)
				}
			}
		}
	}
	return ""
}

// hindered reports whether anything that happened to a slave after a time may have kept
// its answer from a master.
func (c *checks) hindered(s *slave, m *master, since time.Duration) bool {
	return s.health.now != "" || s.health.until > 0 && s.health.until >= since ||
		slices.ContainsFunc(c.cuts, func(p pastCut) bool {
			return p.until >= since && p.from <= c.w.now && p.between(&s.process, &m.process)
		})
}

// behind returns the slaves that need not know a view yet.
func (c *checks) behind(v usedView) (list []*slave) {
	for _, s := range c.w.slaves {
		if v.provisional && s.disk.table.View < v.view {
			list = append(list, s)
		}
	}
	return list
}

// gaps returns the keys that are in none of the slices, which must be in ascending
// order of keys. twice says which two slices overlap, or is "" if none do.
func gaps(list []balance.Held) (out []balance.Interval, twice string) {
	next := balance.Key(0)
	for i, h := range list {
		switch {
		case i > 0 && h.Lo <= list[i-1].Hi:
			return nil, fmt.Sprintf("slices %d and %d are both served at %x", list[i-1].ID, h.ID, uint64(h.Lo))
		case h.Lo != next:
			out = append(out, balance.Interval{Lo: next, Hi: h.Lo - 1})
		}
		next = h.Hi + 1
	}
	if next != 0 || len(list) == 0 {
		out = append(out, balance.Interval{Lo: next, Hi: balance.MaxKey})
	}
	return out, ""
}
