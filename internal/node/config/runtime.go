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

// ShareOfProcessors returns the environment of one of several equal child processes
// that share this process' processors, with its share of them: as many threads of one
// process as there are processors would only take them from the others. It is the
// environment of this process where that has GOMAXPROCS.
func ShareOfProcessors(children int) []string {
	env := os.Environ()
	if os.Getenv("GOMAXPROCS") != "" {
		return env
	}
	return append(env, "GOMAXPROCS="+strconv.Itoa(share(runtime.GOMAXPROCS(0), children)))
}

// share returns the share of each, rounded up.
func share(processors, children int) int { return max(1, (processors+children-1)/max(1, children)) }
