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

// memoryWatch warns when the part of the store that must stay in memory has grown so large that the
// store could not be opened again. A slave that is running continues with a small cache, but it
// would not start again.
type memoryWatch struct {
	plan   memlimit.Plan
	memory config.Size
	store  barrels.Store
	log    *slog.Logger
	warned bool
}

// memoryCheckEvery is the time between two checks.
const memoryCheckEvery = time.Minute

// run makes the checks until ctx is done.
func (o *memoryWatch) run(ctx context.Context) {
	for wait.Sleep(ctx, memoryCheckEvery) == nil {
		o.check()
	}
}

// check logs one warning each time that the limit comes to be exceeded.
func (o *memoryWatch) check() {
	err := o.plan.Check(o.memory, always(o.store))
	if err != nil && !o.warned {
		o.log.Warn("the data has outgrown the memory of this slave: it will not open its store after a restart", "err", err)
	}
	o.warned = err != nil
}

// register registers metrics of the memory that is always needed, and of its limit.
func (o *memoryWatch) register(port *ports.Ports, name string) {
	r := port.Registerer(name)
	metrics.Gauge(r, "adshard_store_always_bytes", "Memory of terms and campaigns, which is never given up.",
		func() float64 { return float64(always(o.store)) })
	metrics.Gauge(r, "adshard_store_always_limit_bytes", "Above it the store is not opened again.",
		func() float64 { return float64(o.plan.MostAlways()) })
}

// always returns the number of bytes that a store always keeps in memory.
func always(store barrels.Store) uint64 {
	m := store.Stats().Memory
	return m.Terms + m.Parents
}
