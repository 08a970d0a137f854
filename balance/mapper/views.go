package mapper

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"adshard/balance"
	"adshard/fault"
)

// views tracks the newest states of the slice map and who has received them.
//
// A view is published, that is, masters get it, when every slave that is alive and
// in a shard's set has acknowledged it or a later one: then no query asks a slave
// for a view that it has not received. Which slaves those are is a revision, which
// masters get at once. What was served only in earlier views is released when every
// master whose lease lasts has the view and the longest query has ended.
//
// It guarantees that a model is durable before anybody receives it, one change at a time, that
// quanta are numbered and none has a clock below the floor, and that what masters get every slave
// that they ask has.
type views struct {
	*cluster
	*journal
	number  uint64        // of the newest quantum
	last    time.Duration // when it was sent
	stamped uint64        // its clock
	floor   uint64        // no quantum has a lower clock
	staged  *staged       // waits to be saved
	saves   uint64
	// resumed is set if there was a mapper before, whose views masters may have; since is when
	// the items were loaded.
	resumed bool
	since   time.Duration

	waiting   []*balance.Model // durable and not published, the newest last
	published *balance.Model   // with the newest revision; nil: none, or not determined yet
	stuck     time.Duration    // since when the oldest waiting one waits
	again     time.Duration    // when views may wait anew for slaves that are to join
	masters   map[string]master
	// delayed are slaves that are to join a set and that views wait for, with the newest view
	// that they could serve.
	delayed map[string]uint64

	save   *SaveState
	quanta []balance.Quantum
}

// master is the state of a master.
type master struct {
	view, revision uint64
	heard          time.Duration
}

func newViews(c *cluster, j *journal) *views {
	return &views{cluster: c, journal: j, masters: map[string]master{}, delayed: map[string]uint64{}}
}

func (w *views) unpublished() *balance.Model {
	if !w.resumed || w.published != nil {
		return nil
	}
	return w.model
}

// maxMasters bounds the masters whose lease lasts, maxNamesakes those of one NAME: processes that
// were started again and again, or somebody who has that master's certificate.
const (
	maxMasters   = 1024
	maxNamesakes = 64
)

// roomFor returns why another master is refused.
func (w *views) roomFor(now time.Duration, name string) error {
	w.forgetMasters(now)
	own, _, _ := strings.Cut(name, "/")
	namesakes := 0
	for other := range w.masters {
		if other, _, _ = strings.Cut(other, "/"); other == own {
			namesakes++
		}
	}
	switch {
	case len(w.masters) >= maxMasters:
		return fault.Newf(fault.Overloaded, "balance: note master", "master %s is refused: there are %d masters already", name, maxMasters)
	case namesakes >= maxNamesakes:
		return fault.Newf(fault.Overloaded, "balance: note master", "master %s is refused: %d masters have the name %s; give it another one", name, namesakes, own)
	}
	return nil
}

// newestPublished returns the newest model that masters may have; nil: none.
func (w *views) newestPublished() *balance.Model { return w.published }

// noteMaster records the view and revision of a master's map.
func (w *views) noteMaster(now time.Duration, name string, view, revision uint64) error {
	if _, ok := w.masters[name]; !ok {
		if err := w.roomFor(now, name); err != nil {
			return err
		}
	}
	w.masters[name] = master{view: view, revision: revision, heard: now}
	return nil
}

// status returns the state of each master, by name.
func (w *views) status(now time.Duration) (out []MasterStatus) {
	for _, name := range slices.Sorted(maps.Keys(w.masters)) {
		v := w.masters[name]
		out = append(out, MasterStatus{Name: name, View: v.view, SilentFor: now - v.heard})
	}
	return out
}

// crowded reports whether views may be unacknowledged by no more.
func (w *views) crowded(most int) bool { return len(w.waiting) >= most }

// behind reports whether a slave lacks the oldest view that waits for slaves, and since when that waits.
func (w *views) behind(slave string) (is bool, since time.Duration) {
	return len(w.waiting) > 0 && w.nodes[slave].table.View < w.waiting[0].View(), w.stuck
}

// delay has views wait for a slave that is to join a set: it could serve a view. They do so for most at a time, and
// then as long for none.
func (w *views) delay(now time.Duration, slave string, serves uint64, most time.Duration) {
	if now >= w.again {
		w.again = now + 2*most
	}
	if now < w.again-most {
		w.delayed[slave] = serves
	}
}

// delayNoMore has views wait for a slave no longer.
func (w *views) delayNoMore(slave string) { delete(w.delayed, slave) }

// forgetMasters drops masters whose lease has ended.
func (w *views) forgetMasters(now time.Duration) {
	maps.DeleteFunc(w.masters, func(_ string, v master) bool { return now >= v.heard+w.cfg.MasterLease })
}

// await adds a model to those that are to be published.
func (w *views) await(now time.Duration, model *balance.Model) {
	if len(w.waiting) == 0 {
		w.stuck = now
	}
	w.waiting = append(w.waiting, model)
}

// publish publishes the newest view that all slaves that are asked and alive have
// acknowledged. It reports whether that is newer than the published one.
func (w *views) publish(now time.Duration) bool {
	if len(w.waiting) == 0 {
		return false
	}
	acked := w.acknowledged(now)
	i := len(w.waiting) - 1
	for i >= 0 && w.waiting[i].View() > acked {
		i--
	}
	if i < 0 {
		return false
	}
	w.published, w.stuck = w.waiting[i].WithMembers(w.model), now
	w.waiting = slices.Delete(w.waiting, 0, i+1)
	w.event(Event{Step: true, Text: fmt.Sprintf("view %d is published", w.published.View())})
	return true
}

// acknowledged returns the newest view that all slaves have that are asked and
// alive, or are about to be asked, and that those could serve that are close to it.
func (w *views) acknowledged(now time.Duration) uint64 {
	view := w.model.View()
	models := []*balance.Model{w.model}
	if w.staged != nil {
		models = append(models, w.staged.model)
	}
	for _, model := range models {
		for _, s := range model.Slaves() {
			if n, known := w.nodes[s.Name]; known && model.Asked(s) && w.alive(s.Name, now) {
				view = min(view, n.table.View)
			}
		}
	}
	for slave, serves := range w.delayed {
		if w.alive(slave, now) {
			view = min(view, serves)
		}
	}
	return view
}

// oldestAsked returns the oldest view, and the oldest revision, by which a master may
// still ask: the least of what is published and of what the masters have that were
// heard within the lease. They are 0 before the first publication, and while a mapper
// that has just resumed leaves masters time to connect.
func (w *views) oldestAsked(now time.Duration) (view, revision uint64) {
	if w.published == nil || w.resumed && now < w.since+w.cfg.MasterLease {
		return 0, 0
	}
	view, revision = w.published.View(), w.published.Revision()
	for _, v := range w.masters {
		if now < v.heard+w.cfg.MasterLease {
			view = min(view, v.view)
			revision = min(revision, v.revision)
		}
	}
	return view, revision
}

// waitingFor lists who is behind: nodes that have not acknowledged the newest
// view, masters that do not have the one that is published.
func (w *views) waitingFor(now time.Duration, leaving bool) []string {
	var out []string
	for _, s := range w.model.Slaves() {
		if v := w.nodes[s.Name].table.View; w.answers(s, now) && v < w.model.View() {
			out = append(out, fmt.Sprintf("node %s to acknowledge view %d: it has %d", s.Name, w.model.View(), v))
		}
	}
	if p := w.published; p != nil && leaving {
		for _, name := range slices.Sorted(maps.Keys(w.masters)) {
			if v := w.masters[name]; v.view < p.View() && now < v.heard+w.cfg.MasterLease {
				out = append(out, fmt.Sprintf("master %s to get view %d: it has %d", name, p.View(), v.view))
			}
		}
	}
	return out
}

func (w *views) mapFor(have MapVersion) *balance.Model {
	model, own := w.published, have.Epoch == w.cfg.Epoch
	if model == nil && (have.View == 0 || own) {
		model = w.unpublished()
	}
	if model == nil {
		return nil
	}
	filled := w.model.Filled() && !have.Filled
	if !own || have.View < model.View() || have.View == model.View() && (have.Revision < model.Revision() || filled) {
		return model
	}
	return nil
}

// MasterStatus is the state of a master.
type MasterStatus struct {
	Name      string
	View      uint64
	SilentFor time.Duration
}
