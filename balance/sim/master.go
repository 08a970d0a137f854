package sim

import (
	"cmp"
	"slices"
	"time"

	"adshard/balance"
)

// master asks all slaves in the view that it has.
type master struct {
	process
	w     *world
	view  uint64
	nodes []string

	// What the balancer last heard of it, for checks: in which view it asks,
	// when, and whether the balancer of the newest epoch heard it.
	told     uint64
	toldAt   time.Duration
	toldTrue bool
}

// run is the life of the process. It keeps no map.
func (m *master) run() {
	m.start()
	m.view, m.nodes, m.told = 0, nil, 0
	m.w.every(&m.process, 2*m.w.times.poll, func() { m.poll(func() {}) })
	if m.w.checks != nil {
		m.w.every(&m.process, 2*m.w.times.poll, func() { m.ask(1) })
	}
}

// poll tells the balancer the view and learns of a newer one; without a
// balancer, from the slaves, if it must.
func (m *master) poll(then func()) {
	b := m.w.balancerOf(&m.process)
	if b == nil {
		then()
		return
	}
	view := m.view
	m.w.net.do(call{
		from: &m.process, to: &b.process, channel: control, timeout: m.w.times.timeout, failed: then,
		serve: func() func() {
			if b.mapper != nil {
				m.told, m.toldAt, m.toldTrue = view, m.w.now, b.epoch == m.w.db.epoch
			}
			model := b.watch(m.name, view)
			return func() {
				if model != nil {
					m.adopt(model)
				}
				then()
			}
		},
	})
}

// adopt takes a newer map.
func (m *master) adopt(model *balance.Model) {
	if model.View() <= m.view {
		return
	}
	m.view, m.nodes = model.View(), nil
	for _, n := range model.Nodes() {
		if n.State != balance.Drained {
			m.nodes = append(m.nodes, n.Name)
		}
	}
	if m.w.checks != nil {
		m.w.checks.dirty = true
	}
}

// question is a query under way to all slaves of a map.
type question struct {
	m       *master
	view    uint64
	began   time.Duration
	open    int
	served  []balance.Held
	stale   bool
	retries int
}

// ask asks all slaves; what is stale is asked again so many times.
func (m *master) ask(retries int) {
	if m.view == 0 || len(m.nodes) == 0 {
		return
	}
	q := &question{m: m, view: m.view, began: m.w.now, open: len(m.nodes), retries: retries}
	for _, name := range m.nodes {
		var to *process
		if s := m.w.slave(name); s != nil {
			to = &s.process
		}
		m.w.net.do(call{
			from: &m.process, to: to, channel: queries, timeout: m.w.times.query, failed: q.done,
			serve: func() func() {
				served, stale := m.w.slave(name).search(q.view)
				return func() {
					q.served = append(q.served, served...)
					q.stale = q.stale || stale
					q.done()
				}
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

// done counts an answer; the last one ends the query.
func (q *question) done() {
	if q.open--; q.open > 0 {
		return
	}
	if q.stale && q.retries > 0 {
		q.m.poll(func() {
			if q.m.view == q.view {
				q.m.learn()
			}
			q.m.ask(q.retries - 1)
		})
		return
	}
	slices.SortFunc(q.served, func(a, b balance.Held) int { return cmp.Compare(a.Lo, b.Lo) })
	if q.m.w.checks != nil {
		q.m.w.checks.answered(q)
	}
}

// learn takes the newest map that slaves keep in their data.
func (m *master) learn() {
	for _, name := range m.nodes {
		s := m.w.slave(name)
		if s == nil || !s.up || m.w.checks == nil {
			continue
		}
		if model, known := m.w.checks.models[s.disk.table.View]; known {
			m.adopt(model)
		}
	}
}
