package mapper

import (
	"fmt"
	"slices"
	"time"

	"adshard/balance"
	"adshard/balance/cluster"
	"adshard/balance/maps"
	"adshard/balance/replicas"
	"adshard/fault"
)

// joining has the slaves that have joined and wait for the first plan, or for their place in the model.
type joining struct {
	*cluster.Cluster
	views   *maps.Views
	members *replicas.Membership

	list []balance.Joining
}

// add adds a new slave, or replaces what a known one has reported.
func (w *joining) add(j balance.Joining) {
	if i := w.index(j.Name); i >= 0 {
		w.list[i] = j
	} else {
		w.list = append(w.list, j)
	}
}

// index returns the index of a slave in the list, or −1 if it is not there.
func (w *joining) index(name string) int {
	return slices.IndexFunc(w.list, func(j balance.Joining) bool { return j.Name == name })
}

// admit adds new slaves to the model: as shards without slices if each shard has one slave, otherwise
// as spares. It also updates the sites of slaves.
func (w *joining) admit(e *cluster.Edit) {
	for _, j := range w.list {
		slave, ok := w.Model.Slave(j.Name)
		_, taken := w.Model.Named(j.Name)
		switch {
		case !ok && w.members.Replicas() == 1 && !taken:
			e.Try(func(e *balance.Edit) error { _, err := e.Join(j.Name, j.Site); return err })
		case !ok:
			e.Try(func(e *balance.Edit) error { return e.Enlist(j.Name, j.Site, len(j.Table.Slices) > 0) })
		case slave.Site != j.Site:
			e.Try(func(e *balance.Edit) error { return e.Place(j.Name, j.Site) })
		}
	}
	w.list = nil
}

// remove removes a slave that joined and went away before the first plan.
func (w *joining) remove(now time.Duration, name string) error {
	const op = "balance: remove"
	i := w.index(name)
	switch {
	case w.views.Saving() || !w.Loaded:
		return w.noPlan()
	case i < 0:
		return fault.Newf(fault.NotFound, op, "there is no slave %s", name)
	case w.Alive(name, now):
		return fault.Newf(fault.Conflict, op, "slave %s cannot be removed: it is alive; stop it first, and wait %v", name, w.Config.DeadAfter)
	}
	w.list = slices.Delete(w.list, i, i+1)
	return nil
}

// waiting says what the first plan waits for. It returns "" after the first plan.
func (w *joining) waiting() string {
	switch {
	case w.Model != nil:
		return ""
	case !w.Loaded:
		return "the items are being loaded"
	case w.views.Saving():
		return "the plan is being saved"
	case len(w.list) < w.Config.Slaves:
		return fmt.Sprintf("%d of %d slaves have joined", len(w.list), w.Config.Slaves)
	}
	return "the plan failed and will be tried again"
}

// noPlan returns the error for operations that need a plan.
func (w *joining) noPlan() error {
	return fault.Newf(fault.Unavailable, "balance: mapper", "there is no plan yet: %s", w.waiting())
}
