package sim

import (
	"cmp"
	"slices"
	"time"

	"adshard/balance"
)

// question is a query that is under way to all shards of a map. It asks one slave of
// each shard at a time.
type question struct {
	m        *master
	view     uint64
	model    *balance.Model
	round    int // in the second round, it asks with a newer map
	asked    time.Duration
	began    time.Duration // when the round began
	deadline time.Duration
	open     int // number of shards that have neither answered nor failed
	paused   bool
	served   []balance.Held

	// behind has the slaves that need not have known the view when the round began.
	behind []*slave
}

// part is the part of a question for one shard.
type part struct {
	id    balance.ShardID
	shard string
	rest  []string       // slaves that were not asked yet
	best  []balance.Held // the best answer so far
	stale bool           // a slave no longer serves the view; this matters if no other slave answers
}

// ask starts a question to all shards.
func (m *master) ask() {
	if m.have.View == 0 || m.model == nil {
		return
	}
	q := &question{m: m, asked: m.w.now, deadline: m.w.now + m.w.times.query}
	q.begin()
}

// begin asks all shards of the master's map.
func (q *question) begin() {
	m := q.m
	q.view, q.model, q.began, q.open, q.served, q.paused = m.have.View, m.model, m.w.now, 0, nil, false
	if q.behind = nil; m.w.checks != nil {
		q.behind = m.w.checks.behind(usedView{q.view, m.provisional})
	}
	q.round++
	var parts []*part
	for _, sh := range q.model.Shards() {
		if sh.State == balance.Drained {
			continue
		}
		p := &part{id: sh.ID, shard: sh.Name}
		for _, s := range q.model.Set(sh.ID) {
			p.rest = append(p.rest, s.Name)
		}
		if k := len(p.rest); k > 1 {
			first := m.w.rnd.below(k)
			p.rest = append(p.rest[first:k:k], p.rest[:first]...)
		}
		parts = append(parts, p)
	}
	q.open = len(parts)
	for _, p := range parts {
		q.next(p, q.round)
	}
}

// replicas returns the greatest number of slaves of a shard, which share the time that
// is left.
func (q *question) replicas() (most int) {
	for _, sh := range q.model.Shards() {
		most = max(most, len(q.model.Set(sh.ID)))
	}
	return most
}

// next asks the next slave of a shard. After the last slave, the part ends.
func (q *question) next(p *part, round int) {
	if q.round != round {
		return
	}
	if len(p.rest) == 0 {
		q.answered(round, p.best, p.stale && len(p.best) == 0)
		return
	}
	m, name := q.m, p.rest[0]
	time := (q.deadline - m.w.now) / time.Duration(len(p.rest))
	p.rest = p.rest[1:]
	var to *process
	if s := m.w.slave(name); s != nil {
		to = &s.process
	}
	m.w.net.do(call{
		from: &m.process, to: to, channel: queries, timeout: time,
		failed: func() { q.next(p, round) },
		serve: func() func() {
			served, stale := m.w.slave(name).search(q.view, p.shard)
			return func() {
				p.stale = p.stale || stale
				if len(served) > len(p.best) {
					p.best = served
				}
				if len(p.rest) > 0 && q.lacks(p.id, served) {
					q.next(p, round)
					return
				}
				if len(served) > 0 {
					p.best = served
				}
				q.answered(round, p.best, p.stale && len(p.best) == 0)
			}
		},
	})
}

// search answers a query for a shard in a view: with the slices that the slave serves
// in it, or with stale if the view is too old.
func (s *slave) search(view uint64, shard string) (served []balance.Held, stale bool) {
	switch {
	case !s.caughtUp || view > s.disk.table.View || shard != s.shard(s.disk.table):
		return nil, false
	case view < s.disk.table.Least:
		return nil, true
	}
	return s.disk.served(view), false
}

// shard returns the name of the shard of which the slave is a replica by a table, or ""
// if it is a spare.
func (s *slave) shard(t balance.Table) string {
	if t.Spare {
		return ""
	}
	return cmp.Or(t.Shard, s.name)
}

// shardOf returns the shard for which the master may ask a slave, or "" if it may not.
func (m *master) shardOf(slave string) string {
	if m.model == nil {
		return ""
	}
	s, _ := m.model.Slave(slave)
	sh, _ := m.model.Shard(s.Shard)
	if !s.In {
		return ""
	}
	return sh.Name
}

// lacks reports whether an answer lacks a part of what the shard is to serve in the
// question's view.
func (q *question) lacks(shard balance.ShardID, served []balance.Held) bool {
	all := make([]balance.Interval, len(served))
	for i, h := range served {
		all[i] = balance.Interval{Lo: h.Lo, Hi: h.Hi}
	}
	for _, v := range q.model.Slices() {
		if v.Shard == shard && len(unseen(balance.Interval{Lo: v.Lo, Hi: v.Hi}, all)) > 0 {
			return true
		}
	}
	return false
}

// answered takes the answer of a shard. The last answer ends the query. If a shard no
// longer serves the view, all shards are asked once more with a newer map, provided
// that one arrives in half of the time left.
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

// end ends the query if no more answers will come.
func (q *question) end() {
	if q.open > 0 || q.paused {
		return
	}
	q.round++ // the round has ended
	slices.SortFunc(q.served, func(a, b balance.Held) int { return cmp.Compare(a.Lo, b.Lo) })
	if q.m.w.checks != nil {
		q.m.w.checks.answered(q)
	}
}
