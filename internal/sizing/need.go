package sizing

import (
	"errors"
	"fmt"
	"time"

	"adshard/fault"
)

// Need is what a cluster must do, and the machines that are available.
type Need struct {
	Keywords uint64
	// QPS is the number of queries a second. P99 is the time within which 99 of 100 queries must be answered, even
	// while one machine is down.
	QPS float64
	P99 time.Duration
	// Memory and Cores are those of one machine, which runs a slave and a master. A core is as fast as one of the
	// machine in the figures.
	Memory uint64
	Cores  int
}

// The limits of a Need.
const (
	MaxKeywords = 1_000_000_000_000
	MaxQPS      = 100_000_000
	MaxCores    = 1024
	MinMemory   = 256 << 20
	MaxMemory   = 1 << 46
)

// Validate returns fault.Invalid with a list of everything that is wrong, or nil.
func (n *Need) Validate() error {
	var faults []error
	fail := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	if n.Keywords < 1 || n.Keywords > MaxKeywords {
		fail("%d keywords: 1 to %d", n.Keywords, uint64(MaxKeywords))
	}
	if !(n.QPS > 0 && n.QPS <= MaxQPS) {
		fail("%g queries a second: more than 0, at most %d", n.QPS, MaxQPS)
	}
	if n.Memory < MinMemory || n.Memory > MaxMemory {
		fail("%d bytes of memory: a machine has 256MiB to 64TiB", n.Memory)
	}
	if n.Cores < 1 || n.Cores > MaxCores {
		fail("%d cores: a machine has 1 to %d", n.Cores, MaxCores)
	}
	if n.P99 < time.Microsecond || n.P99 > time.Hour {
		fail("a p99 of %v: 1µs to 1h", n.P99)
	}
	if len(faults) > 0 {
		return fault.New(fault.Invalid, "", errors.Join(faults...))
	}
	return nil
}
