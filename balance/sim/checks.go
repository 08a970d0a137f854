package sim

import (
	"cmp"
	"slices"
	"time"

	"adshard/balance"
)

// checks holds a run against the promises of package balance.
type checks struct {
	w      *world
	dirty  bool              // a table or a master's view changed
	newest *balance.Model    // durable
	maps   map[uint64]string // who serves what in each view
	quanta map[*balancer]balance.Quantum
	order  map[*distributor]balance.Quantum
	// certain has, by node, slice and generation, when each bin was certified.
	certain  map[certain][balance.Bins]time.Duration
	switched map[certain]bool
	least    uint64        // the oldest view that is kept
	jumped   time.Duration // when a balancer's clock last jumped, or another one was started
	cuts     []pastCut

	answers, complete int
	owed              int // answers that had to be complete
}

type certain struct {
	node              string
	slice, generation uint64
}

func newChecks(w *world) *checks {
	return &checks{
		w: w, maps: map[uint64]string{},
		quanta: map[*balancer]balance.Quantum{}, order: map[*distributor]balance.Quantum{},
		certain: map[certain][balance.Bins]time.Duration{}, switched: map[certain]bool{},
		jumped: -time.Hour,
	}
}

// event is called after every event.
func (c *checks) event() {
	c.examine()
	if c.dirty {
		c.dirty = false
		c.views()
	}
}

// views looks at every view that a master may use: no key is served by two
// slaves, and each by one, unless that one lacks what it is to serve.
func (c *checks) views() {
	done := map[usedView]bool{}
	look := func(v usedView) {
		if v.view > 0 && !done[v] {
			done[v] = true
			c.view(v)
		}
	}
	for _, m := range c.w.masters {
		look(usedView{m.have.View, m.provisional})
	}
	for _, b := range c.w.balancers {
		if b.up && b.mapper != nil && b.mapper.Published() != nil {
			look(usedView{b.mapper.Published().View(), false})
		}
	}
}

// usedView is a view in which a master may ask; see master.provisional.
type usedView struct {
	view        uint64
	provisional bool
}

func (c *checks) view(v usedView) {
	var served []balance.Held
	stale := false
	for _, s := range c.w.slaves {
		t := s.disk.table
		stale = stale || v.view < t.Least
		if v.view >= t.Least && v.view <= t.View {
			served = append(served, s.disk.served(v.view)...)
		}
	}
	slices.SortFunc(served, func(a, b balance.Held) int { return cmp.Compare(a.Lo, b.Lo) })
	missing, twice := gaps(served)
	if twice != "" {
		c.w.fail("in view %d %s", v.view, twice)
	}
	if stale {
		return
	}
	behind := c.behind(v)
	lacks := func(s *slave) bool { return !s.health.whole || slices.Contains(behind, s) }
	if why := c.unexcused(v.view, missing, lacks); why != "" {
		c.w.fail("in view %d %s", v.view, why)
	}
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
		since := c.w.now - m.heardAt
		if m.up && m.heardView > 0 && m.heardView == m.have.View && m.have.View < least && m.heardByNewest && since < c.w.cfg.Mapper.MasterLease && c.jumped < m.heardAt {
			c.w.fail("the slaves would stop serving view %d, in which %s still searches, as it reported %v ago", m.have.View, m.name, since)
		}
	}
}

// answered looks at the answer of a query.
func (c *checks) answered(q *question) {
	c.answers++
	missing, twice := gaps(q.served)
	if twice != "" {
		c.w.fail("a query of %s in view %d: %s", q.m.name, q.view, twice)
	}
	since := q.began
	if q.deadline-q.began < 4*c.w.cfg.Latency {
		since = q.asked // what held up the first round left no time for the second
	}
	ill := func(s *slave) bool {
		return c.hindered(s, q.m, since) || slices.Contains(q.behind, s)
	}
	if !slices.ContainsFunc(c.w.slaves, ill) {
		c.owed++
	}
	if len(missing) == 0 {
		c.complete++
	} else if why := c.unexcused(q.view, missing, ill); why != "" {
		c.w.fail("a query of %s in view %d, asked at %v, is incomplete: %s", q.m.name, q.view, q.began, why)
	}
}
