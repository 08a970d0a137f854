package config

import (
	"context"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"time"

	"adshard/internal/wait"
)

// SetGCPercent sets by how many percent of the live heap the heap may grow between two collections.
// It does nothing if the environment sets GOGC.
func SetGCPercent(percent int) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(percent)
	}
}

// garbageLooks is the time between two checks of how much of the heap is live.
const garbageLooks = time.Second

// LeaveGarbage lets the heap of the process hold `bytes` of garbage, or as much as is live if that
// is more, until ctx is done. A small heap in which much is made and dropped is collected less
// often that way. It has no effect if the environment sets GOGC.
func LeaveGarbage(ctx context.Context, bytes uint64) error {
	live, before := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}, 0
	for {
		metrics.Read(live)
		if percent := percentFor(bytes, live[0].Value.Uint64()); percent < before || percent > before+before/10 {
			SetGCPercent(percent) // this stops the process for a moment
			before = percent
		}
		if err := wait.Sleep(ctx, garbageLooks); err != nil {
			return err
		}
	}
}

// percentFor returns bytes as a percentage of what is live, within bounds.
func percentFor(bytes, live uint64) int {
	return int(min(max(100, 100*bytes/max(1, live)), mostPercent))
}

// mostPercent bounds the growth of a heap that was nearly empty at the last check.
const mostPercent = 400

// SpareProcessor sets GOMAXPROCS to one more than the processors of the machine, unless the
// environment sets it. Searches and bulk work keep all but one of them busy (overload.ForSlave),
// and data from the network need not wait for them: the operating system shares processors in finer
// turns than Go, whose turns are 10 ms.
func SpareProcessor() {
	if os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + 1)
	}
}

// ShareOfProcessors returns the environment of one of several equal child processes that share this
// process's processors, with a GOMAXPROCS of its share and a spare one (SpareProcessor): with a
// thread for each processor, a child would only take processors from the others. If this process
// has GOMAXPROCS in its environment, that is left as it is.
func ShareOfProcessors(children int) []string {
	env := os.Environ()
	if os.Getenv("GOMAXPROCS") != "" {
		return env
	}
	return append(env, "GOMAXPROCS="+strconv.Itoa(share(runtime.GOMAXPROCS(0), children)+1))
}

// share returns the share of each child, rounded up.
func share(processors, children int) int { return max(1, (processors+children-1)/max(1, children)) }
