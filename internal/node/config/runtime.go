package config

import (
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
)

// SetGCPercent sets how far the heap may grow between two collections, in percent of
// what is live, unless the environment does (GOGC).
func SetGCPercent(percent int) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(percent)
	}
}

// SpareProcessor gives this process one processor of Go's more than the machine has for
// it, unless the environment says how many (GOMAXPROCS). Searches and bulk work keep all
// but one busy (overload.ForSlave), and what comes from the network does not wait behind
// them: the operating system shares the processors more finely than Go, whose turns are
// 10 ms.
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
