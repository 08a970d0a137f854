package balancer

import (
	"fmt"
	"path/filepath"
	"testing"

	"adshard/fault"
	"adshard/internal/node/memlimit"
	"adshard/internal/node/offline"
	"adshard/internal/node/slave"
)

// TestBuiltBarrelsAreAdopted: a balancer without a plan adopts stores that were built offline, and
// continues from their clock.
func TestBuiltBarrelsAreAdopted(t *testing.T) {
	r := newRig(t, 3)
	r.Write(12, 5, 4, 1_000_000)
	cfg := offline.DefaultConfig()
	cfg.DB, cfg.Out = r.cfg.DB, filepath.Join(t.TempDir(), "barrels")
	var done, total uint64
	sum, err := offline.Build(t.Context(), cfg, func(d, of uint64) { done, total = d, of })
	r.Must(err)
	if sum.Groups != 60 || sum.Keywords != 240 || done != 240 || total != 240 || len(sum.Stores) != 3 {
		t.Fatalf("built %+v, progress %d of %d", sum, done, total)
	}
	if _, err := offline.Build(t.Context(), cfg, nil); !fault.Is(err, fault.Conflict) {
		t.Fatalf("built over stores that are there: %v", err)
	}
	r.Write(13, 5, 5, 1_000_000) // one more advertiser, and one more keyword in each group
	r.start()
	for i, built := range sum.Stores {
		store, err := slave.OpenStore(&slave.Config{Dir: built.Dir}, storePlan)
		r.Must(err)
		t.Cleanup(func() { store.Close() })
		if st := store.Stats(); st.Groups != built.Groups || st.Keywords != built.Keywords {
			t.Errorf("store %d has %+v, built were %+v", i, st, built)
		}
		r.slaves[fmt.Sprint("s", i)] = &slaveRig{store: store}
		r.slave(fmt.Sprint("s", i))
	}
	r.eventually("followed", r.whole)
	if got := r.groups(); got != 65 || !r.b.Status().Adopted {
		t.Fatalf("%d groups, wanted 65; %+v", got, r.b.Status())
	}
	for name, s := range r.slaves {
		if s.store.Position().Epoch != 1 || s.store.Stats().Groups < 15 {
			t.Errorf("%s was refilled or is empty: %v, %+v", name, s.store.Position(), s.store.Stats())
		}
		r.stopSlave(name)
	}
}

// storePlan is the memory of a store in tests.
var storePlan = memlimit.Plan{Data: 8 << 20, Cache: 1 << 20, Buffers: 4 << 20}
