package sim

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"adshard/balance"
	"adshard/fault"
)

// master asks all slaves in the view that it has. It learns its map as the
// product's masters do: balance.MapWatch and balance.MapVersion decide.
type master struct {
	process
	w     *world
	have  balance.MapVersion
	nodes []string
	watch balance.MapWatch
	// provisional: the map is one that not all slaves have acknowledged. A master
	// without any gets it from a balancer that has none other since it started.
	provisional bool

	asking   bool     // slaves, for a map
	outdated bool     // a slave refused the view while they were being asked
	waiting  []func() // queries, for a newer map

	// What the balancer last heard of it, for checks: in which view it asks,
	// when, and whether the balancer of the newest epoch heard it.
	heardView     uint64
	heardAt       time.Duration
	heardByNewest bool
}

// run is the life of the process. It keeps no map.
func (m *master) run() {
	m.start()
	m.have, m.nodes, m.waiting, m.heardView = balance.MapVersion{}, nil, nil, 0
	m.asking, m.outdated, m.provisional = false, false, false
	m.watch = balance.NewMapWatch(m.w.times.maps)
	m.later(m.w.jitter(m.w.cfg.Latency), m.poll)
	if m.w.checks != nil {
		m.w.every(&m.process, 2*m.w.times.poll, m.ask)
	}
}

// later has the process do something after a while, if it still runs.
func (m *master) later(d time.Duration, what func()) {
	life := m.life
	m.w.after(d, func() {
		if m.up && m.life == life {
			what()
		}
	})
}

// poll waits at the balancer for a newer map, again and again.
func (m *master) poll() {
	life, have := m.life, m.have
	name := fmt.Sprint(m.name, "/", life) // each life has another, as in the product
	failed := func() { m.polled(false, fault.Newf(fault.Unavailable, "sim: ask for the map", "the balancer is away")) }
	b := m.w.balancerOf(&m.process)
	if b == nil {
		m.later(m.w.cfg.Latency, failed)
		return
	}
	m.w.net.do(call{
		from: &m.process, to: &b.process, channel: control, timeout: m.w.times.watch + m.w.times.timeout, failed: failed,
		wait: func(reply func(func()), lost func()) {
			b.watch(&watcher{m: m, name: name, life: life, have: have, lost: lost, reply: func(model *balance.Model) {
				as := balance.MapVersion{Epoch: b.epoch, Filled: model != nil && b.mapper.Model().Filled()}
				provisional := model != b.mapper.Published() && (have.View == 0 || m.provisional)
				reply(func() { m.offered(as, model, provisional) })
			}})
		},
	})
}

// offered takes a balancer's answer to a request that had a map.
func (m *master) offered(as balance.MapVersion, model *balance.Model, provisional bool) {
	if model == nil {
		m.polled(true, nil)
		return
	}
	as.View = model.View()
	if err := m.have.Accept(as); err != nil {
		m.polled(false, err)
		return
	}
	m.polled(m.adopt(as, model, provisional), nil)
}

// polled goes on after a request to the balancer.
func (m *master) polled(fresh bool, err error) {
	pause := m.watch.Polled(m.w.now, fresh, err)
	again := func() { m.later(pause, m.poll) }
	if err != nil && m.watch.AskSlaves(m.w.now, m.have, false) {
		m.learn(again)
		return
	}
	again()
}

// adopt makes a map the newest and reports whether it is another.
func (m *master) adopt(as balance.MapVersion, model *balance.Model, provisional bool) bool {
	if as == m.have {
		return false
	}
	m.have, m.nodes, m.provisional = as, nil, provisional
	for _, n := range model.Nodes() {
		if n.State != balance.Drained {
			m.nodes = append(m.nodes, n.Name)
		}
	}
	if m.w.checks != nil {
		m.w.checks.dirty = true
	}
	waiting := m.waiting
	m.waiting = nil
	for _, goOn := range waiting {
		goOn()
	}
	return true
}

// help asks the slaves for a newer map, since one of them no longer serves the view
// of the current one, if the balancer is away.
func (m *master) help() {
	if m.asking {
		m.outdated = true
		return
	}
	if !m.watch.AskSlaves(m.w.now, m.have, true) {
		return
	}
	m.asking, m.outdated = true, false
	m.learn(func() {
		m.later(m.w.times.maps.FirstPause, func() {
			if m.asking = false; m.outdated {
				m.help()
			}
		})
	})
}

// learn asks all slaves for the map that they have received.
func (m *master) learn(then func()) {
	var received []balance.SlaveMap
	var models []*balance.Model
	open := len(m.w.slaves)
	done := func() {
		if open--; open > 0 {
			return
		}
		if best, as, err := m.have.Choose(received); err == nil {
			m.adopt(as, models[best], false)
		}
		then()
	}
	for _, s := range m.w.slaves {
		m.w.net.do(call{
			from: &m.process, to: &s.process, channel: queries, timeout: m.w.times.seed, failed: done,
			serve: func() func() {
				t := s.disk.table
				v := balance.SlaveMap{MapVersion: balance.MapVersion{Epoch: s.disk.position.Epoch, View: t.View, Filled: t.Filled}, Least: t.Least}
				model := m.w.maps[t.View]
				return func() {
					if model != nil {
						received, models = append(received, v), append(models, model)
					}
					done()
				}
			},
		})
	}
}

// question is a query under way to all slaves of a map.
type question struct {
	m        *master
	view     uint64
	round    int // the second one is asked with a newer map
	asked    time.Duration
	began    time.Duration // the round
	deadline time.Duration
	open     int // slaves that have neither answered nor failed
	paused   bool
	served   []balance.Held

	// behind are slaves that need not know the view yet, as of the round's start.
	behind []*slave
}

// ask asks all slaves, once more if a newer map is needed.
func (m *master) ask() {
	if m.have.View == 0 || len(m.nodes) == 0 {
		return
	}
	q := &question{m: m, asked: m.w.now, deadline: m.w.now + m.w.times.query}
	q.begin()
}

// begin asks all slaves of the master's map.
func (q *question) begin() {
	m := q.m
	q.view, q.began, q.open, q.served, q.paused = m.have.View, m.w.now, len(m.nodes), nil, false
	if q.behind = nil; m.w.checks != nil {
		q.behind = m.w.checks.behind(usedView{q.view, m.provisional})
	}
	q.round++
	round := q.round
	for _, name := range m.nodes {
		var to *process
		if s := m.w.slave(name); s != nil {
			to = &s.process
		}
		m.w.net.do(call{
			from: &m.process, to: to, channel: queries, timeout: q.deadline - m.w.now,
			failed: func() { q.answered(round, nil, false) },
			serve: func() func() {
				served, stale := m.w.slave(name).search(q.view)
				return func() { q.answered(round, served, stale) }
			},
		})
	}
}

// search answers a query in a view with what the slave serves in it.
func (s *slave) search(view uint64) (served []balance.Held, stale bool) {
	switch {
	case !s.caughtUp || view > s.disk.table.View:
		return nil, false
	case view < s.disk.table.Least:
		return nil, true
	}
	return s.disk.served(view), false
}

// answered counts an answer; the last one ends the query. The first time that a
// slave no longer serves the view all are asked again with a newer map, if one
// comes in half of the time left.
func (q *question) answered(round int, served []balance.Held, stale bool) {
	if q.round != round {
		return
	}
	q.served = append(q.served, served...)
	q.open--
	if m := q.m; stale && round == 1 && !q.paused && m.have.View == q.view {
		q.paused = true
		m.waiting = append(m.waiting, func() { q.goOn(round) })
		m.later((q.deadline-m.w.now)/2, func() { q.goOn(round) })
		m.help()
		return
	} else if stale && round == 1 && !q.paused {
		q.begin()
		return
	}
	q.end()
}

// goOn ends the pause of a round.
func (q *question) goOn(round int) {
	switch {
	case q.round != round || !q.paused:
	case q.m.have.View != q.view:
		q.begin()
	default:
		q.paused = false
		q.end()
	}
}

// end ends the query when nothing more will come.
func (q *question) end() {
	if q.open > 0 || q.paused {
		return
	}
	q.round++ // it is over
	slices.SortFunc(q.served, func(a, b balance.Held) int { return cmp.Compare(a.Lo, b.Lo) })
	if q.m.w.checks != nil {
		q.m.w.checks.answered(q)
	}
}
