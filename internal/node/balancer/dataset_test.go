package balancer

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"adshard/balance"
	"adshard/internal/node/offline"
	"adshard/internal/node/slave"
)

// built starts slaves s0, s1, … of r on stores that were built from a database.
func (r *rig) built(db string, order balance.Order) {
	r.T.Helper()
	cfg := offline.DefaultConfig()
	cfg.DB, cfg.Order, cfg.Slaves, cfg.Out = db, order.String(), r.cfg.Slaves, filepath.Join(r.T.TempDir(), "barrels")
	sum, err := offline.Build(r.T.Context(), cfg, nil)
	r.Must(err)
	for i, built := range sum.Stores {
		name := fmt.Sprint("s", i)
		store, err := slave.OpenStore(&slave.Config{Dir: built.Dir, Name: name}, storePlan)
		r.Must(err)
		r.T.Cleanup(func() { store.Close() })
		r.slaves[name] = &slaveRig{store: store}
		r.slave(name)
		r.T.Cleanup(func() { r.stopSlave(name) })
	}
}

// TestStoresOfAnotherDatabaseAreRefused: such stores may tile the ring and have a clock that this
// database had, too, but their data is different, and no operator has allowed it to be discarded.
// It is discarded once an operator allows that.
func TestStoresOfAnotherDatabaseAreRefused(t *testing.T) {
	other := newRig(t, 2)
	other.Write(9, 2, 4, 3_000_000)
	id, err := other.DB.ID(t.Context())
	other.Must(err)
	r := newRig(t, 2)
	r.Write(20, 2, 4, 1_000_000)
	r.start()
	r.built(other.cfg.DB, balance.ByHash)
	var trouble string
	r.eventually("refused", func() bool {
		trouble = r.slaves["s0"].proxy.State().Trouble
		return r.slaves["s0"].proxy.State().Refused
	})
	own, err := r.DB.ID(t.Context())
	r.Must(err)
	if !strings.Contains(trouble, id) || !strings.Contains(trouble, own) || !strings.Contains(trouble, "--discard-data-of") {
		t.Errorf("says neither whose data it has nor what to do: %s", trouble)
	}
	if got := r.groups(); got != 18 {
		t.Errorf("%d groups are left of 18", got)
	}
	if list := r.b.SlavesList(); len(list) > 0 {
		t.Errorf("registered: %v", list)
	}
	r.stop()
	r.cfg.DiscardDataOf = []string{id}
	r.start()
	r.eventually("filled", func() bool { return r.whole() && r.groups() == 40 })
	if r.b.Status().Adopted {
		t.Error("the plan of another database was adopted")
	}
}

// TestStoresOfAnotherOrderAreRefused: their keys have another meaning. They are refilled only if
// that is asked for, since the order of a new cluster may be a mistake.
func TestStoresOfAnotherOrderAreRefused(t *testing.T) {
	r := newRig(t, 2)
	r.Write(20, 2, 4, 1_000_000)
	r.start()
	r.built(r.cfg.DB, balance.ByOwner)
	var trouble string
	r.eventually("refused", func() bool {
		trouble = r.slaves["s0"].proxy.State().Trouble
		return r.slaves["s0"].proxy.State().Refused
	})
	if !strings.Contains(trouble, "--order advertiser") || !strings.Contains(trouble, "--discard-data-of") {
		t.Errorf("does not say what to do: %s", trouble)
	}
	id, err := r.DB.ID(t.Context())
	r.Must(err)
	r.stop()
	r.cfg.DiscardDataOf = []string{id}
	r.start()
	r.eventually("filled", r.whole)
	r.Write(20, 2, 4, 2_000_000) // all groups change, so that their keys decide where they go
	r.eventually("followed", func() bool { return r.whole() && r.groups() == 40 })
}
