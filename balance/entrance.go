package balance

import (
	"fmt"
	"maps"
	"slices"
	"time"
)

// entrance is what a slave must pass before masters ask it: everything that its
// shard serves is there and is certified. Changes come to all of a slave alike, so
// what was certified once stays so for as long as the slave holds it.
type entrance struct {
	slave string
	node  NodeID
	// revision is one in which the slave belongs to the node: what it said that it held in
	// an earlier one it may have dropped since.
	revision  uint64
	certified []Interval // disjoint and ascending, no two touching
	check     *comparison
	waits     string // what for
}

// entrancesOf makes the entrances those of the slaves that are being filled.
func (m *Mapper) entrancesOf(now time.Duration) {
	for name, w := range m.entrances {
		if s, ok := m.model.Slave(name); !ok || s.In || s.Node != w.node {
			m.closeEntrance(w)
		}
	}
	for _, s := range m.model.Slaves() {
		if s.Node != 0 && !s.In && m.entrances[s.Name] == nil {
			m.entrances[s.Name] = &entrance{slave: s.Name, node: s.Node, revision: m.model.Revision(), certified: m.node(s.Name).replace.certified(s.Node)}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(m.entrances)) {
		m.entrances[name].waits = m.enter(now, m.entrances[name])
	}
}

func (m *Mapper) closeEntrance(w *entrance) {
	delete(m.entrances, w.slave)
	if w.check != nil {
		delete(m.verify.asked, w.check.asked)
	}
}

// enter looks how far a slave is from joining its set and returns what it waits for;
// "": it may join.
func (m *Mapper) enter(now time.Duration, w *entrance) string {
	n := m.node(w.slave)
	switch {
	case !m.alive(w.slave, now):
		return "it is lost"
	case n.trouble != "":
		return "it is in trouble: " + n.trouble
	case n.copying != nil:
		return "it copies the store of " + n.copying.Source
	case !n.reported || n.table.Revision < w.revision:
		return fmt.Sprintf("it has not received revision %d", w.revision)
	}
	w.certified = both(w.certified, n.table.in(Full))
	want := m.model.Table(w.node)
	if view := m.mustKnow(want); n.table.View < view {
		return fmt.Sprintf("it has not received view %d", view)
	}
	served := n.table.everServed()
	for _, h := range want.Slices {
		if h.From != 0 && !covers(served, Interval{h.Lo, h.Hi}) {
			return fmt.Sprintf("it is being filled: slice %d is not complete", h.ID)
		}
	}
	if m.sentenced(w.slave) {
		return "it discards what differs from the source of truth"
	}
	if now >= n.caughtUp+m.cfg.DeadAfter {
		return "it has not applied all changes"
	}
	if w.check != nil {
		return fmt.Sprintf("slice %d is being compared with the source of truth", w.check.id)
	}
	for _, h := range want.Slices {
		if lack := lacking(Interval{h.Lo, h.Hi}, w.certified); h.From != 0 && len(lack) > 0 {
			w.check = &comparison{entrance: w, target: w.slave, id: h.ID, generation: h.Generation, all: lack[0]}
			w.check.begin(m, lack[0].Lo)
			m.verify.enqueue(w.check)
			return fmt.Sprintf("slice %d is being compared with the source of truth", h.ID)
		}
	}
	return ""
}

// mustKnow returns the view that a slave must have received to join the set of a node
// that is to hold want: the published one, which masters ask for, and each in which the
// node was given a slice. The newest view is not required: while slices move there are
// several a second, and a slave that is always a little behind would never join.
//
// What the slave serves by then it also serves in the newest view: a slice that the node
// serves since a view before has been the node's all the time, so the slave has dropped
// nothing of it. Later views are published when the slave has them, as one of the set.
func (m *Mapper) mustKnow(want Table) uint64 {
	if m.views.published == nil {
		return want.View
	}
	view := m.views.published.View()
	for _, h := range want.Slices {
		view = max(view, h.From)
	}
	return view
}

// everServed returns the keys that a slave serves in any view.
func (t Table) everServed() []Interval {
	var out []Interval
	for _, h := range t.Slices {
		if h.From != 0 {
			out = appendInterval(out, Interval{h.Lo, h.Hi})
		}
	}
	return out
}

// entranceCompares reports whether an answer is to be judged. Data that another
// version built cannot be compared: they are built again.
func (m *Mapper) entranceCompares(now time.Duration, c *comparison, a Certified) bool {
	v := m.model.At(c.all.Lo)
	if v.ID != c.id || v.Generation != c.generation {
		c.entrance.check = nil // the slice has changed: it is looked at again
		return false
	}
	if a.Target.Builder != a.Truth.Builder && a.Target.Items > 0 {
		c.entrance.check = nil
		m.condemn(now, c.target, c, fmt.Sprintf("it was built by version %d, the source of truth by version %d", a.Target.Builder, a.Truth.Builder))
		return false
	}
	return true
}

// certified notes that a comparison of a slave that is to join is done.
func (m *Mapper) certified(w *entrance) {
	w.certified = union(w.certified, w.check.all)
	w.check = nil
	m.members.next = 0
}

// reopen forgets what was certified on a slave that has started again.
func (m *Mapper) reopen(n *nodeInfo) {
	for _, w := range m.entrances {
		if m.nodes[w.slave] == n {
			m.closeEntrance(w)
		}
	}
}

// sentenced reports whether a slave is to discard something.
func (m *Mapper) sentenced(slave string) bool {
	for key := range m.verify.condemned {
		if key.node == slave {
			return true
		}
	}
	return false
}

// union returns a list of disjoint ascending intervals with another added.
func union(list []Interval, v Interval) []Interval {
	var out []Interval
	for _, w := range list {
		if w.Hi < v.Lo && w.Hi+1 != v.Lo || v.Hi < w.Lo && v.Hi+1 != w.Lo {
			out = append(out, w)
			continue
		}
		v = Interval{min(v.Lo, w.Lo), max(v.Hi, w.Hi)}
	}
	i, _ := slices.BinarySearchFunc(out, v.Lo, func(w Interval, k Key) int {
		if w.Lo < k {
			return -1
		}
		return 1
	})
	return slices.Insert(out, i, v)
}

// lacking returns the keys of v that lie in none of a list of disjoint ascending
// intervals.
func lacking(v Interval, list []Interval) []Interval {
	if covers(list, v) {
		return nil
	}
	return outside(v, list)
}

// both returns what lies in both of two lists of disjoint ascending intervals.
func both(a, b []Interval) (out []Interval) {
	for len(a) > 0 && len(b) > 0 {
		if lo, hi := max(a[0].Lo, b[0].Lo), min(a[0].Hi, b[0].Hi); lo <= hi {
			out = append(out, Interval{lo, hi})
		}
		if a[0].Hi < b[0].Hi {
			a = a[1:]
		} else {
			b = b[1:]
		}
	}
	return out
}
