package mapper_test

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"adshard/balance"
)

// promised reports whether a slave has the data at a key according to its table and position.
func (n *testSlave) promised(k balance.Key) bool {
	for _, h := range n.table.Slices {
		if k >= h.Lo && k <= h.Hi {
			return h.State == balance.Full || h.State == balance.Filling && uint64(k) < n.pos.Offset
		}
	}
	return false
}

// check compares a slave with the history: what its table and position promise is there, and
// there is nothing where it holds nothing.
func (w *world) check(n *testSlave) error {
	filling := slices.ContainsFunc(n.table.Slices, func(h balance.Held) bool { return h.State == balance.Filling })
	if filling != (n.pos.Offset != 0) {
		return fmt.Errorf("%s is at %s with the table %v", n.name, n.pos, n.table)
	}
	for k := range n.items {
		if !covers(n.table.Coverage(), k) {
			return fmt.Errorf("%s holds %x, which lies in none of its slices", n.name, k)
		}
		p := parentOf(k)
		if have := n.parents[p]; have == 0 || n.promised(k) && have < newest(w.touched[p], n.pos.Clock) {
			return fmt.Errorf("%s at %s holds %x with its parent of %d", n.name, n.pos, k, have)
		}
	}
	for k, clocks := range w.history {
		if !n.promised(k) {
			continue
		}
		promised := newest(clocks, n.pos.Clock)
		now, exists := w.items[k]
		if have, held := n.items[k]; held && have < promised || !held && exists && now <= n.pos.Clock {
			return fmt.Errorf("%s at %s holds %x of %d, promised is %d", n.name, n.pos, k, have, promised)
		}
	}
	return w.checkViews()
}

// newest returns the last of ascending clocks that is not above `to`.
func newest(clocks []uint64, to uint64) uint64 {
	last := uint64(0)
	for _, c := range clocks {
		if c <= to {
			last = c
		}
	}
	return last
}

// answers reports whether a slave takes queries in a view: it knows the view and has not
// released it.
func (n *testSlave) answers(view uint64) bool { return view <= n.table.View && view >= n.table.Least }

// serves returns the slices that a slave serves in a view.
func (n *testSlave) serves(view uint64) (list []balance.Held) {
	for _, h := range n.table.Slices {
		if n.answers(view) && h.From != 0 && h.From <= view && (h.Until == 0 || view <= h.Until) {
			list = append(list, h)
		}
	}
	return list
}

// checkViews checks each view that no slave calls stale. In none of them is a key served twice.
// In a view that masters may have, each key is served where the map says, except by slaves that
// were away or lost their data.
func (w *world) checkViews() error {
	if w.model() == nil {
		return nil
	}
	least := uint64(1)
	for _, n := range w.slaves {
		least = max(least, n.table.Least)
	}
	published := uint64(0)
	if p := w.mapper.Published(); p != nil {
		published = p.View()
	}
	w.excuse()
	for _, m := range w.masters {
		if published = max(published, m.view); m.view < least && m.view > 0 && !m.lapsed && w.now-m.heard < w.plan.MasterLease {
			return fmt.Errorf("the master %s has view %d, and slaves call views below %d stale", m.name, m.view, least)
		}
	}
	for view := least; view <= w.mapper.Model().View(); view++ {
		if err := w.checkTwice(view); err != nil {
			return err
		}
		if view <= published {
			if err := w.checkMap(view); err != nil {
				return err
			}
		}
	}
	return nil
}

// excuse records the slaves that are not as the model wants: those from which the balancer has
// not heard for so long that it goes on without them, until they are as wanted again.
func (w *world) excuse() {
	for _, n := range w.slaves {
		lost := w.now-n.heard >= w.plan.DeadAfter
		if n.excused = n.excused || lost; !n.excused || lost || n.dead || w.model() == nil {
			continue
		}
		if _, ok := w.mapper.Model().Slave(n.name); !ok {
			continue
		}
		want := w.mapper.Model().TableOf(n.name)
		var covered []balance.Interval
		for _, h := range n.serves(n.table.View) {
			covered = append(covered, balance.Interval{Lo: h.Lo, Hi: h.Hi})
		}
		n.excused = n.table.View < want.View || n.table.Least < want.Least || slices.ContainsFunc(want.Slices, func(s balance.Held) bool {
			if s.From == 0 {
				return false
			}
			there := slices.ContainsFunc(n.table.Slices, func(h balance.Held) bool { return h.ID == s.ID && h.From == s.From })
			// The slave may hold the slice as it was before a merge with another one that is being
			// refilled.
			return !there || s.Until == 0 && !within(balance.Slice{Lo: s.Lo, Hi: s.Hi}, covered)
		})
	}
}

func (w *world) checkTwice(view uint64) error {
	for _, n := range w.slaves {
		for _, o := range w.slaves {
			if n.name >= o.name || n.shard() == o.shard() {
				continue
			}
			for _, a := range n.serves(view) {
				for _, b := range o.serves(view) {
					if a.Lo <= b.Hi && b.Lo <= a.Hi {
						return fmt.Errorf("slices %d and %d are both served in view %d", a.ID, b.ID, view)
					}
				}
			}
		}
	}
	return nil
}

// shard returns the shard for which a slave answers; each spare has its own.
func (n *testSlave) shard() string {
	if n.table.Spare {
		return "spare " + n.name
	}
	return cmp.Or(n.table.Shard, n.name)
}

// checkMap compares what is served in a view with the view's map.
func (w *world) checkMap(view uint64) error {
	for _, s := range w.views[view].slices {
		for _, v := range w.mapper.Model().Set(s.Shard) {
			n := w.slaves[v.Name]
			if n == nil || n.excused {
				continue
			}
			var covered []balance.Interval
			for _, h := range n.serves(view) {
				covered = append(covered, balance.Interval{Lo: h.Lo, Hi: h.Hi})
			}
			if !within(s, covered) {
				return fmt.Errorf("in view %d, %s does not serve slice %d (%x to %x): it has %v at %s",
					view, n.name, s.ID, s.Lo, s.Hi, n.table, n.pos)
			}
		}
	}
	return nil
}

// within reports whether intervals in ascending order cover a whole slice.
func within(s balance.Slice, list []balance.Interval) bool {
	next := s.Lo
	for _, v := range list {
		if v.Lo <= next && v.Hi >= next {
			if v.Hi >= s.Hi {
				return true
			}
			next = v.Hi + 1
		}
	}
	return false
}

// complete checks that nothing is moving, and that the slaves hold all items, each once, with
// the newest content, and serve the whole ring.
func (w *world) complete() error {
	seen, counted := 0, map[string]bool{}
	var served balance.Key
	for _, name := range slices.Sorted(maps.Keys(w.slaves)) {
		n := w.slaves[name]
		again := counted[n.shard()] // a replica of a shard that was counted
		counted[n.shard()] = !n.dead || again
		if n.dead && w.plan.Replicas > 1 {
			continue
		}
		for k, v := range n.items {
			if !again {
				seen++
			}
			if w.items[k] != v {
				return fmt.Errorf("%s holds %x of %d, the newest is %d", n.name, k, v, w.items[k])
			}
			if p := parentOf(k); n.parents[p] != w.parents[p] {
				return fmt.Errorf("%s holds parent %v of %d, the newest is %d", n.name, p, n.parents[p], w.parents[p])
			}
		}
		for _, h := range n.table.Slices {
			if h.From == 0 || h.Until != 0 {
				return fmt.Errorf("%s does not serve slice %d: %v", n.name, h.ID, h)
			}
			if !again {
				served += h.Hi - h.Lo + 1
			}
		}
	}
	if seen != len(w.items) || served != 0 {
		return fmt.Errorf("%d items are held, there are %d; served are %x keys of the ring", seen, len(w.items), uint64(served))
	}
	return w.checkViews()
}
