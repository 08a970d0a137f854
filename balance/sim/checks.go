package sim

import (
	"cmp"
	"slices"
	"time"

	"adshard/balance"
)

// checks tests in a run whether the promises of package balance are kept.
type checks struct {
	w      *world
	dirty  bool              // a table or a master's view changed
	newest *balance.Model    // newest durable model
	maps   map[uint64]string // which shard serves which keys, by view
	quanta map[*balancer]balance.Quantum
	order  map[*distributor]balance.Quantum
	// certain has the certificates that were given, by slave, slice and generation, the
	// last ones last.
	certain  map[certain][]certified
	switched map[certain]bool
	least    uint64        // the oldest view that the durable state still has
	jumped   time.Duration // when a balancer's clock last jumped, or another one was started
	cuts     []pastCut

	answers, complete int
	owed              int // number of answers that had to be complete
}

type certain struct {
	// holder is the name of a slave, or the number of a shard.
	holder            string
	slice, generation uint64
}

// certified is a certificate that a slave gave: an interval and the bins of it.
type certified struct {
	balance.Interval
	bins uint64
	at   time.Duration
}

func newChecks(w *world) *checks {
	return &checks{
		w: w, maps: map[uint64]string{},
		quanta: map[*balancer]balance.Quantum{}, order: map[*distributor]balance.Quantum{},
		certain: map[certain][]certified{}, switched: map[certain]bool{},
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

// views checks every view that a master may use: no key is served by two shards, and
// each key is served by one shard, unless all slaves of the shard lack data.
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

// unseen returns the parts of v that are in no interval of a list.
func unseen(v balance.Interval, list []balance.Interval) []balance.Interval {
	parts := []balance.Interval{v}
	for _, w := range list {
		apart := func(p balance.Interval) bool { return w.Hi < p.Lo || w.Lo > p.Hi }
		if !slices.ContainsFunc(parts, func(p balance.Interval) bool { return !apart(p) }) {
			continue // true for nearly all
		}
		var rest []balance.Interval
		for _, p := range parts {
			if apart(p) {
				rest = append(rest, p)
				continue
			}
			if p.Lo < w.Lo {
				rest = append(rest, balance.Interval{Lo: p.Lo, Hi: w.Lo - 1})
			}
			if p.Hi > w.Hi {
				rest = append(rest, balance.Interval{Lo: w.Hi + 1, Hi: p.Hi})
			}
		}
		parts = rest
	}
	return parts
}

// usedView is a view that a master may use; for provisional, see master.provisional.
type usedView struct {
	view        uint64
	provisional bool
}

func (c *checks) view(v usedView) {
	var served []balance.Held
	// No master with a lease uses a view that the durable state has given up.
	stale := c.newest != nil && v.view < c.newest.Least()
	seen := map[string][]balance.Interval{}
	for _, s := range c.w.slaves {
		t := s.disk.table
		stale = stale || v.view < t.Least
		if v.view < t.Least || v.view > t.View {
			continue
		}
		shard := s.shard(t)
		others := seen[shard] // what other slaves of the shard have
		for _, h := range s.disk.served(v.view) {
			for _, part := range unseen(balance.Interval{Lo: h.Lo, Hi: h.Hi}, others) {
				seen[shard] = append(seen[shard], part)
				h.Lo, h.Hi = part.Lo, part.Hi
				served = append(served, h)
			}
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
	if why := c.unexcused(v.view, c.newest, missing, lacks); why != "" {
		c.w.fail("in view %d %s", v.view, why)
	}
}

// deciding checks a state that a mapper wants to save: it must not give up a view that
// a master with a live lease uses, or let a slave delete data for which such a master
// asks it.
func (c *checks) deciding(b *balancer, state []byte) {
	st, err := balance.DecodeState(state)
	c.w.must(err, "read the state to be saved")
	if err != nil || b.epoch != c.w.db.epoch {
		return
	}
	c.frees(st.Model)
	c.leaves(b, st.Model)
	least := st.Model.Table(st.Model.Shards()[0].ID).Least
	if least <= c.least {
		return
	}
	c.least = least
	for _, m := range c.w.masters {
		if m.have.View < least && c.leased(m) {
			c.w.fail("the slaves would stop serving view %d, in which %s still searches, as it reported %v ago", m.have.View, m.name, c.w.now-m.heardAt)
		}
	}
}

// answered checks the answer of a query.
func (c *checks) answered(q *question) {
	c.answers++
	missing, twice := gaps(q.served)
	if twice != "" {
		c.w.fail("a query of %s in view %d: %s", q.m.name, q.view, twice)
	}
	since := q.began
	if q.deadline-q.began < 4*c.w.cfg.Latency*time.Duration(q.replicas()) {
		since = q.asked // the delay of the round before left no time for this one
	}
	ill := func(s *slave) bool {
		return c.hindered(s, q.m, since) || slices.Contains(q.behind, s)
	}
	if !slices.ContainsFunc(c.w.slaves, ill) {
		c.owed++
	}
	if len(missing) == 0 {
		c.complete++
	} else if why := c.unexcused(q.view, q.model, missing, ill); why != "" {
		c.w.fail("a query of %s in view %d, asked at %v, is incomplete: %s", q.m.name, q.view, q.began, why)
	}
}
