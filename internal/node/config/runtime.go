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

// SetGCPercent sets how far the heap may grow between two collections, in percent of
// what is live, unless the environment does (GOGC).
func SetGCPercent(percent int) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(percent)
	}
}

// garbageLooks is the time between two checks of how much of a heap is live.
const garbageLooks = time.Second

// LeaveGarbage lets the heap of the process have that many bytes of garbage, or as much as is
// live where that is more, until ctx is done, unless the environment decides (GOGC): a small
// heap in which much is made and dropped is collected less often.
func LeaveGarbage(ctx context.Context, bytes uint64) error {
	live, before := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}, 0
	for {
		metrics.Read(live)
		if percent := percentFor(bytes, live[0].Value.Uint64()); percent < before || percent > before+before/10 {
			SetGCPercent(percent) // it stops the process for a moment
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

// mostPercent bounds the growth of a heap that was nearly empty at the last look.
const mostPercent = 400

// SpareProcessor sets GOMAXPROCS to one more than the processors of the machine, unless the
// environment sets it. Searches and bulk work keep all but one busy (overload.ForSlave), and
// what comes from the network does not wait behind them: the operating system shares the
// processors more finely than Go, whose turns are 10 ms.
func SpareProcessor() {
	if os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + 1)
	}
}

// ShareOfProcessors returns the environment of one of several equal child processes
// that share this process' processors, with its share of them and a spare one
// (SpareProcessor): as many threads of one process as there are processors would only
// take them from the others. It is the environment of this process where that has
// GOMAXPROCS.
func ShareOfProcessors(children int) []string {
	env := os.Environ()
	if os.Getenv("GOMAXPROCS") != "" {
		return env
	}
	return append(env, "GOMAXPROCS="+strconv.Itoa(share(runtime.GOMAXPROCS(0), children)+1))
}

// share returns the share of each, rounded up.
func share(processors, children int) int { return max(1, (processors+children-1)/max(1, children)) }
