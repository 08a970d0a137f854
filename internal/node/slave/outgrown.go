package slave

import (
	"context"
	"log/slog"
	"time"

	"adshard/barrels"
	"adshard/internal/node/config"
	"adshard/internal/node/memlimit"
	"adshard/internal/node/metrics"
	"adshard/internal/node/ports"
	"adshard/internal/wait"
)

// outgrown says when what the store keeps in any case takes so much of the slave's memory that
// the store would not be opened again: a slave that runs goes on, with a small cache, and
// does not come back from a restart.
type outgrown struct {
	plan   memlimit.Plan
	memory config.Size
	store  barrels.Store
	log    *slog.Logger
	told   bool
}

// outgrownEvery is how often it looks.
const outgrownEvery = time.Minute

// run looks until ctx is done.
func (o *outgrown) run(ctx context.Context) {
	for wait.Sleep(ctx, outgrownEvery) == nil {
		o.look()
	}
}

// look logs when the limit is passed, once until it is kept again.
func (o *outgrown) look() {
	err := o.plan.Check(o.memory, always(o.store))
	if err != nil && !o.told {
		o.log.Warn("the data has outgrown the memory of this slave: it will not open its store after a restart", "err", err)
	}
	o.told = err != nil
}

// register shows what is kept in any case, and the limit.
func (o *outgrown) register(port *ports.Ports, name string) {
	r := port.Registerer(name)
	metrics.Gauge(r, "adshard_store_always_bytes", "Memory of terms and campaigns, which is never given up.",
		func() float64 { return float64(always(o.store)) })
	metrics.Gauge(r, "adshard_store_always_limit_bytes", "Above it the store is not opened again.",
		func() float64 { return float64(o.plan.MostAlways()) })
}

// always returns how many bytes a store keeps in memory in any case.
func always(store barrels.Store) uint64 {
	m := store.Stats().Memory
	return m.Terms + m.Parents
}
