package balance

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"adshard/fault"
)

// views tracks the newest states of the slice map and who has received them.
//
// A view is published, that is, masters get it, when every slave that is alive and
// in a shard's set has acknowledged it or a later one: then no query asks a slave
// for a view that it has not received. Which slaves those are is a revision, which
// masters get at once. What was served only in earlier views is released when every
// master whose lease lasts has the view and the longest query has ended.
type views struct {
	waiting   []*Model      // durable and not published, the newest last
	published *Model        // with the newest revision; nil: none, or not determined yet
	stuck     time.Duration // since when the oldest waiting one waits
	again     time.Duration // when views may wait anew for slaves that are to join
	masters   map[string]master
}

// master is the state of a master.
type master struct {
	view, revision uint64
	heard          time.Duration
}

func newViews() views { return views{masters: map[string]master{}} }

// Published returns the newest model that masters may have, or nil.
func (m *Mapper) Published() *Model { return m.views.published }

// Unpublished returns what masters without any map may have while nothing is
// published after a restart: the newest durable model, so that a node that does
// not come back does not leave queries unanswered. Nodes that have not received its
// view refuse it. It is nil if there was no mapper before or a model is published.
func (m *Mapper) Unpublished() *Model {
	if !m.resumed || m.views.published != nil {
		return nil
	}
	return m.model
}

// Master records a master and the view and revision of its map. It is called when
// the master starts to wait for another map, and again when it stops waiting. The name is
// NAME/PROCESS, or NAME. Errors: fault.Overloaded beyond maxMasters and maxNamesakes.
func (m *Mapper) Master(now time.Duration, name string, view, revision uint64) error {
	now = m.time.at(now)
	if _, ok := m.views.masters[name]; !ok {
		if err := m.roomFor(now, name); err != nil {
			return err
		}
	}
	m.views.masters[name] = master{view: view, revision: revision, heard: now}
	m.step(now)
	return nil
}

// maxMasters bounds the masters whose lease lasts, maxNamesakes those of one NAME: processes that
// were started again and again, or somebody who has that master's certificate.
const (
	maxMasters   = 1024
	maxNamesakes = 64
)

// roomFor returns why another master is refused.
func (m *Mapper) roomFor(now time.Duration, name string) error {
	m.masters(now)
	own, _, _ := strings.Cut(name, "/")
	namesakes := 0
	for other := range m.views.masters {
		if other, _, _ = strings.Cut(other, "/"); other == own {
			namesakes++
		}
	}
	switch {
	case len(m.views.masters) >= maxMasters:
		return fault.Newf(fault.Overloaded, "balance: note master", "master %s is refused: there are %d masters already", name, maxMasters)
	case namesakes >= maxNamesakes:
		return fault.Newf(fault.Overloaded, "balance: note master", "master %s is refused: %d masters have the name %s; give it another one", name, namesakes, own)
	}
	return nil
}

// masters drops masters whose lease has ended.
func (m *Mapper) masters(now time.Duration) {
	maps.DeleteFunc(m.views.masters, func(_ string, v master) bool { return now >= v.heard+m.cfg.MasterLease })
}

// await adds a model to those that are to be published.
func (m *Mapper) await(now time.Duration, model *Model) {
	if len(m.views.waiting) == 0 {
		m.views.stuck = now
	}
	m.views.waiting = append(m.views.waiting, model)
}

// publish publishes the newest view that all slaves that are asked and alive have
// acknowledged.
func (m *Mapper) publish(now time.Duration) {
	if len(m.views.waiting) == 0 {
		return
	}
	acked := m.acknowledged(now)
	i := len(m.views.waiting) - 1
	for i >= 0 && m.views.waiting[i].View() > acked {
		i--
	}
	if i < 0 {
		return
	}
	m.views.published, m.views.stuck = m.views.waiting[i].WithMembers(m.model), now
	m.views.waiting = slices.Delete(m.views.waiting, 0, i+1)
	view := m.views.published.View()
	m.event(Event{Step: true, Text: fmt.Sprintf("view %d is published", view)})
	for _, v := range m.moves.sorted() {
		if v.phase == Switched && !v.published && v.view <= view {
			v.published, v.publishedAt = true, now
			m.moves.leaving = append(m.moves.leaving, v)
		}
	}
}

// acknowledged returns the newest view that all slaves have that are asked and
// alive, or are about to be asked, and that those could serve that are close to it.
func (m *Mapper) acknowledged(now time.Duration) uint64 {
	view := m.model.View()
	models := []*Model{m.model}
	if m.staged != nil {
		models = append(models, m.staged.model)
	}
	for _, model := range models {
		for _, s := range model.Slaves() {
			if n, known := m.nodes[s.Name]; known && model.answers(s) && m.alive(s.Name, now) {
				view = min(view, n.table.View)
			}
		}
	}
	for _, w := range m.entrances {
		if w.delays && m.alive(w.slave, now) {
			view = min(view, w.serves)
		}
	}
	return view
}

// answers reports whether masters ask a slave, if it lives.
func (m *Model) answers(s Slave) bool {
	n, _ := m.Node(s.Node)
	return s.In && n.State != Drained
}

// oldestAsked returns the oldest view, and the oldest revision, by which a master may
// still ask: the least of what is published and of what the masters have that were
// heard within the lease. They are 0 before the first publication, and while a mapper
// that has just resumed leaves masters time to connect.
func (m *Mapper) oldestAsked(now time.Duration) (view, revision uint64) {
	if m.views.published == nil || m.resumed && now < m.since+m.cfg.MasterLease {
		return 0, 0
	}
	view, revision = m.views.published.View(), m.views.published.Revision()
	for _, v := range m.views.masters {
		if now < v.heard+m.cfg.MasterLease {
			view = min(view, v.view)
			revision = min(revision, v.revision)
		}
	}
	return view, revision
}

// waitingFor lists who is behind: nodes that have not acknowledged the newest
// view, masters that do not have the one that is published.
func (m *Mapper) waitingFor(now time.Duration) []string {
	var out []string
	for _, s := range m.model.Slaves() {
		if v := m.nodes[s.Name].table.View; m.answers(s, now) && v < m.model.View() {
			out = append(out, fmt.Sprintf("node %s to acknowledge view %d: it has %d", s.Name, m.model.View(), v))
		}
	}
	if p := m.views.published; p != nil && len(m.moves.leaving) > 0 {
		for _, name := range slices.Sorted(maps.Keys(m.views.masters)) {
			if v := m.views.masters[name]; v.view < p.View() && now < v.heard+m.cfg.MasterLease {
				out = append(out, fmt.Sprintf("master %s to get view %d: it has %d", name, p.View(), v.view))
			}
		}
	}
	return out
}
