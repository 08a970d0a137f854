package maps

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"adshard/balance"
	"adshard/balance/cluster"
	"adshard/fault"
)

// Views tracks the newest states of the slice map, and which slaves and masters have received them.
//
// A view is published when every slave that is alive and in a shard's set has acknowledged it or a later view.
// Then masters get it. So no query asks a slave for a view that the slave has not received. Which slaves masters
// ask is a revision; masters get new revisions at once. Slices that were served only in earlier views are
// released when every master with a valid lease has the view and the longest query has ended.
//
// Views guarantees that a model is durable before anything of it is sent, one change at a time; that quanta are
// numbered, and none has a clock below the floor; and that every slave that masters ask has what the masters get.
type Views struct {
	*cluster.Cluster
	*cluster.Journal
	number  uint64        // of the newest quantum
	last    time.Duration // when it was sent
	stamped uint64        // its clock
	floor   uint64        // no quantum has a lower clock
	staged  *staged       // the change that waits to be saved
	saves   uint64
	// resumed is set if there was a mapper before, whose views masters may have. since is when the items were
	// loaded.
	resumed bool
	since   time.Duration

	waiting   []*balance.Model // durable but not published; the newest is last
	published *balance.Model   // with the newest revision; nil if there is none, or it is not known yet
	stuck     time.Duration    // since when the first of waiting has waited
	again     time.Duration    // when views may again wait for slaves that are to join
	masters   map[string]master
	// delayed has the slaves that are to join a set and for which views wait, with the newest view that each
	// could serve.
	delayed map[string]uint64

	save   *SaveState
	quanta []balance.Quantum
}

// master is the state of a master.
type master struct {
	view, revision uint64
	heard          time.Duration
}

// New returns the views of a cluster. No master has a map of it yet.
func New(c *cluster.Cluster, j *cluster.Journal) *Views {
	return &Views{Cluster: c, Journal: j, masters: map[string]master{}, delayed: map[string]uint64{}}
}

// Unpublished returns the model with which a mapper resumed, until the first map is published; after that, or
// without such a model, nil.
func (w *Views) Unpublished() *balance.Model {
	if !w.resumed || w.published != nil {
		return nil
	}
	return w.Model
}

// maxMasters bounds the number of masters with a valid lease, and maxNamesakes the number of these with the same
// NAME. There may be many if a process is started again and again, or an intruder has the master's certificate.
const (
	maxMasters   = 1024
	maxNamesakes = 64
)

// roomFor returns an error if there are too many masters for another one.
func (w *Views) roomFor(now time.Duration, name string) error {
	w.ForgetMasters(now)
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

// Published returns the newest model that masters may have, or nil if there is none.
func (w *Views) Published() *balance.Model { return w.published }

// NoteMaster records the view and revision of a master's map.
func (w *Views) NoteMaster(now time.Duration, name string, view, revision uint64) error {
	if _, ok := w.masters[name]; !ok {
		if err := w.roomFor(now, name); err != nil {
			return err
		}
	}
	w.masters[name] = master{view: view, revision: revision, heard: now}
	return nil
}

// Status returns the state of each master, in the order of names.
func (w *Views) Status(now time.Duration) (out []MasterStatus) {
	for _, name := range slices.Sorted(maps.Keys(w.masters)) {
		v := w.masters[name]
		out = append(out, MasterStatus{Name: name, View: v.view, SilentFor: now - v.heard})
	}
	return out
}

// Crowded reports whether at least `most` views wait to be acknowledged.
func (w *Views) Crowded(most int) bool { return len(w.waiting) >= most }

// Behind reports whether a slave lacks the oldest view that waits for slaves, and since when that view has
// waited.
func (w *Views) Behind(slave string) (is bool, since time.Duration) {
	return len(w.waiting) > 0 && w.Slaves[slave].Table.View < w.waiting[0].View(), w.stuck
}

// Delay makes views wait for a slave that is to join a set, up to the view that it could serve. Views wait for
// such slaves for at most the time `most`, and then for the same time for none of them.
func (w *Views) Delay(now time.Duration, slave string, serves uint64, most time.Duration) {
	if now >= w.again {
		w.again = now + 2*most
	}
	if now < w.again-most {
		w.delayed[slave] = serves
	}
}

// DelayNoMore ends the waiting of views for a slave.
func (w *Views) DelayNoMore(slave string) { delete(w.delayed, slave) }

// ForgetMasters drops masters whose lease has ended.
func (w *Views) ForgetMasters(now time.Duration) {
	maps.DeleteFunc(w.masters, func(_ string, v master) bool { return now >= v.heard+w.Config.MasterLease })
}

// await adds a model to those that wait to be published.
func (w *Views) await(now time.Duration, model *balance.Model) {
	if len(w.waiting) == 0 {
		w.stuck = now
	}
	w.waiting = append(w.waiting, model)
}

// Publish publishes the newest view that all slaves that are asked and alive have acknowledged. It reports
// whether the view is newer than the one published before.
func (w *Views) Publish(now time.Duration) bool {
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
	w.published, w.stuck = w.waiting[i].WithMembers(w.Model), now
	w.waiting = slices.Delete(w.waiting, 0, i+1)
	w.Event(cluster.Event{Step: true, Text: fmt.Sprintf("view %d is published", w.published.View())})
	return true
}

// acknowledged returns the newest view that all slaves have that are alive and asked, or about to be asked. It is
// at most the view that each living delayed slave could serve.
func (w *Views) acknowledged(now time.Duration) uint64 {
	view := w.Model.View()
	models := []*balance.Model{w.Model}
	if w.staged != nil {
		models = append(models, w.staged.Model)
	}
	for _, model := range models {
		for _, s := range model.Slaves() {
			if n, known := w.Slaves[s.Name]; known && model.Asked(s) && w.Alive(s.Name, now) {
				view = min(view, n.Table.View)
			}
		}
	}
	for slave, serves := range w.delayed {
		if w.Alive(slave, now) {
			view = min(view, serves)
		}
	}
	return view
}

// OldestAsked returns the oldest view and the oldest revision that a master may still use: the least of the
// published one and those of the masters that were heard from within the lease. They are 0 before the first
// publication, and while a mapper that has just resumed gives masters time to connect.
func (w *Views) OldestAsked(now time.Duration) (view, revision uint64) {
	if w.published == nil || w.resumed && now < w.since+w.Config.MasterLease {
		return 0, 0
	}
	view, revision = w.published.View(), w.published.Revision()
	for _, v := range w.masters {
		if now < v.heard+w.Config.MasterLease {
			view = min(view, v.view)
			revision = min(revision, v.revision)
		}
	}
	return view, revision
}

// WaitingFor lists the slaves that have not acknowledged the newest view, and, if leaving is set, the masters
// that do not have the published view.
func (w *Views) WaitingFor(now time.Duration, leaving bool) []string {
	var out []string
	for _, s := range w.Model.Slaves() {
		if v := w.Slaves[s.Name].Table.View; w.Answers(s, now) && v < w.Model.View() {
			out = append(out, fmt.Sprintf("slave %s to acknowledge view %d: it has %d", s.Name, w.Model.View(), v))
		}
	}
	if p := w.published; p != nil && leaving {
		for _, name := range slices.Sorted(maps.Keys(w.masters)) {
			if v := w.masters[name]; v.view < p.View() && now < v.heard+w.Config.MasterLease {
				out = append(out, fmt.Sprintf("master %s to get view %d: it has %d", name, p.View(), v.view))
			}
		}
	}
	return out
}

// MapFor returns the model whose map is to be sent to a master with a version, or nil if the master has the
// newest.
func (w *Views) MapFor(have Version) *balance.Model {
	model, own := w.published, have.Epoch == w.Config.Epoch
	if model == nil && (have.View == 0 || own) {
		model = w.Unpublished()
	}
	if model == nil {
		return nil
	}
	filled := w.Model.Filled() && !have.Filled
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
