package sim

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"adshard/balance"
)

// checks holds a run against the promises of the core.
type checks struct {
	w      *world
	dirty  bool // a table or a master's view changed
	models map[uint64]*balance.Model
	newest *balance.Model    // durable
	maps   map[uint64]string // who serves what in each view
	quanta map[*balancer]balance.Quantum
	order  map[*distributor]balance.Quantum
	// certain has, by node, slice and generation, when each bin was certified.
	certain  map[certain][balance.Bins]time.Duration
	switched map[certain]bool
	least    uint64 // the oldest view that is kept
	// disturbed is when a slave was last away or hindered; jumped when a clock
	// last jumped.
	disturbed, jumped time.Duration
	answers, complete int
	undisturbed       int // answers that had to be complete
}

type certain struct {
	node              string
	slice, generation uint64
}

func newChecks(w *world) *checks {
	return &checks{
		w: w, models: map[uint64]*balance.Model{}, maps: map[uint64]string{},
		quanta: map[*balancer]balance.Quantum{}, order: map[*distributor]balance.Quantum{},
		certain: map[certain][balance.Bins]time.Duration{}, switched: map[certain]bool{},
		jumped: -time.Hour,
	}
}

// calm tells whether nothing has hindered a slave for a while.
func (c *checks) calm(since time.Duration) bool {
	return since > c.disturbed+3*c.w.times.unheard
}

// event is called after every event.
func (c *checks) event() {
	w := c.w
	for _, s := range w.slaves {
		if !s.up || !s.caughtUp || s.slow > 1 || s.busy > w.now+w.times.query/2 || !c.recovered(s) {
			c.disturbed = max(c.disturbed, w.now)
		}
	}
	for _, cut := range w.net.cuts {
		c.disturbed = max(c.disturbed, min(cut.until, w.now))
	}
	if c.dirty {
		c.dirty = false
		c.views()
	}
}

// recovered tells whether a slave has had, since its last start, all that it
// should serve.
func (c *checks) recovered(s *slave) bool {
	if s.recovered || c.newest == nil {
		return true
	}
	n, known := c.newest.Named(s.name)
	if !known {
		return true
	}
	t := s.disk.table
	want := c.newest.Table(n.ID)
	want.Slices = slices.DeleteFunc(want.Slices, func(h balance.Held) bool { return h.From == 0 || slices.Contains(t.Slices, h) })
	s.recovered = t.View >= want.View && len(want.Slices) == 0
	return s.recovered
}

// views looks at every view that a master may use: no key is served by two
// nodes, and when all are well, each by one.
func (c *checks) views() {
	var views []uint64
	for _, m := range c.w.masters {
		views = append(views, m.view)
	}
	for _, b := range c.w.balancers {
		if b.up && b.mapper != nil && b.mapper.Published() != nil {
			views = append(views, b.mapper.Published().View())
		}
	}
	slices.Sort(views)
	for _, v := range slices.Compact(views) {
		if v > 0 {
			c.view(v)
		}
	}
}

func (c *checks) view(v uint64) {
	var served []balance.Held
	stale := false
	for _, s := range c.w.slaves {
		t := s.disk.table
		stale = stale || v < t.Least
		if v >= t.Least && v <= t.View {
			served = append(served, s.disk.served(v)...)
		}
	}
	slices.SortFunc(served, func(a, b balance.Held) int { return cmp.Compare(a.Lo, b.Lo) })
	gap, twice := tiling(served)
	if twice != "" {
		c.w.fail("in view %d %s", v, twice)
	}
	if gap != "" && !stale && c.calm(c.w.now) {
		c.w.fail("in view %d %s", v, gap)
	}
}

// tiling tells what hinders slices by rising key from tiling the ring.
func tiling(list []balance.Held) (gap, twice string) {
	next := balance.Key(0)
	for i, h := range list {
		switch {
		case i > 0 && (h.Lo <= list[i-1].Hi):
			return "", fmt.Sprintf("slices %d and %d are both served at %x", list[i-1].ID, h.ID, uint64(h.Lo))
		case h.Lo != next && gap == "":
			gap = fmt.Sprintf("nobody serves %x to %x", uint64(next), uint64(h.Lo-1))
		}
		next = h.Hi + 1
	}
	if gap == "" && (next != 0 || len(list) == 0) {
		gap = fmt.Sprintf("nobody serves the keys from %x on", uint64(next))
	}
	return gap, ""
}

// deciding looks at a state that a mapper wants durable: it lets no view go in
// which a master with a live lease asks.
func (c *checks) deciding(b *balancer, state []byte) {
	st, err := balance.DecodeState(state)
	c.w.must(err, "read the state to be saved")
	if err != nil || b.epoch != c.w.db.epoch {
		return
	}
	least := st.Model.Table(st.Model.Nodes()[0].ID).Least
	if least <= c.least {
		return
	}
	c.least = least
	for _, m := range c.w.masters {
		since := c.w.now - m.toldAt
		if m.up && m.told > 0 && m.told == m.view && m.view < least && m.toldTrue && since < c.w.cfg.Mapper.MasterLease && c.jumped < m.toldAt {
			c.w.fail("view %d is given up, in which %s still asks: it told so %v ago", m.view, m.name, since)
		}
	}
}

// answered looks at the answer of a query.
func (c *checks) answered(q *question) {
	c.answers++
	gap, twice := tiling(q.served)
	if twice != "" {
		c.w.fail("a query of %s in view %d: %s", q.m.name, q.view, twice)
	}
	calm := c.calm(q.began)
	if calm {
		c.undisturbed++
	}
	if gap == "" {
		c.complete++
	} else if calm {
		c.w.fail("a query of %s in view %d is incomplete though all slaves are well: %s", q.m.name, q.view, gap)
	}
}
