package memlimit

import (
	"context"
	"runtime/debug"
	"runtime/metrics"
	"time"

	"adshard/barrels/rocks"
)

// Begin applies the part of the plan that is set once for the process. Call it before stores are
// opened.
func (p Plan) Begin() {
	rocks.FewArenas()
	debug.SetMemoryLimit(p.Heap)
}

// interval is the time between two adjustments.
const interval = time.Second

// Hold sets how much garbage Go's heap may hold, until ctx is done: a fixed part and a share of the
// live data, for which Divide leaves room. While the caches are not full, it may be more, up to a
// share of the whole heap, so that little time is spent on garbage collection if there is much
// memory. From time to time, freed memory that the C allocator keeps is given back to the system.
func (p Plan) Hold(ctx context.Context) {
	ticks := time.NewTicker(interval)
	defer ticks.Stop()
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	set, looks := 0, 0
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticks.C:
		}
		metrics.Read(live)
		if percent := p.percentOf(live[0].Value.Uint64()); percent < set-set/10 || percent > set+set/10 {
			debug.SetGCPercent(percent)
			set = percent
		}
		if looks++; looks%trimEvery == 0 {
			rocks.ReturnFree()
		}
	}
}

// trimEvery is the number of adjustments after which freed memory is given back.
const trimEvery = 10

// percentOf returns how much garbage the heap may hold, in percent of the live data.
func (p Plan) percentOf(live uint64) int {
	live = max(live, mib)
	room := working/2 + live/garbage
	if limit := uint64(p.Heap); limit > live {
		room = max(room, min(limit/garbage, limit-live, live))
	}
	return int(min(100*room/live, 400))
}
