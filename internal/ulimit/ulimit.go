// Package ulimit compares what a process needs with what the operating system allows it (ulimit), before the process
// opens anything.
//
// Without it, a process that may open only a few files starts, says that it is ready, and fails later, in a flush of
// a store or a connection to its database. A process with little address space is ended by Go or C++ in the middle of
// its work. Both limits are set by others, such as a login shell, a unit or a container, and are easily forgotten.
//
// Goals: a start that cannot work is refused with the number that is needed; a tight limit is logged. Non-goals: the
// memory of the machine (package memlimit divides what is configured); limits that are shared with other processes,
// such as that of threads.
package ulimit

import (
	"fmt"
	"log/slog"
	"math"

	"adshard/fault"
)

// Need is what a process needs.
type Need struct {
	// Files is the number of files that it must be able to open, including connections.
	Files uint64
	// Memory is how much memory it is configured to take, in bytes, or 0 if nothing is configured.
	Memory uint64
}

const (
	// wellFiles leaves room for clients and peers: a process with a lower limit logs that the limit is low.
	wellFiles = 1024
	// space is the address space that is needed in addition to the configured memory. Go reserves 0.6 GiB for its tables at
	// once, and 64 MiB at a time later. Each thread has 8 MiB of stack and 64 MiB of its allocator. Programs had up to 1.85 GiB
	// when measured, and on a busy machine there are more threads.
	space = 2 << 30
	// data is the same for the data segment, which does not include reserved space: up to 0.2 GiB was measured.
	data = 512 << 20
)

// Unlimited means no limit.
const Unlimited = math.MaxUint64

// limit is one limit of a process.
type limit struct {
	is, needs, well uint64
	unit            uint64 // the unit of the shell's number, in bytes
	flag, setting   string // the flag of ulimit, and the setting of a systemd unit
	of              string
}

// Check returns fault.Invalid if the process would not work with its limits, and logs limits that are low.
func (n Need) Check(log *slog.Logger) error {
	for _, l := range n.limits(Files(), current(addressSpace), current(dataSize)) {
		switch {
		case l.is < l.needs:
			return fault.Newf(fault.Invalid, "start", "this process may have %s, and needs %d: %s", l.amount(l.is), l.needs/l.unit, l.advice())
		case l.is < l.well && log != nil:
			log.Warn("the limit is low: few connections fit in it", "limit", l.amount(l.is), "needed", l.needs/l.unit, "advice", l.advice())
		}
	}
	return nil
}

// limits returns the limits to compare.
func (n Need) limits(files, as, ds uint64) []limit {
	return []limit{
		{is: files, needs: n.Files, well: max(wellFiles, 2*n.Files), unit: 1, flag: "-n", setting: "LimitNOFILE", of: "open files"},
		{is: as, needs: space + n.Memory, unit: 1 << 10, flag: "-v", setting: "LimitAS", of: "KiB of address space"},
		{is: ds, needs: data + n.Memory, unit: 1 << 10, flag: "-d", setting: "LimitDATA", of: "KiB of data"},
	}
}

func (l *limit) amount(n uint64) string { return fmt.Sprintf("%d %s", n/l.unit, l.of) }

// advice returns how to raise the limit.
func (l *limit) advice() string {
	n := max(l.needs, l.well)
	return fmt.Sprintf("raise the limit with `ulimit %s %d` in the shell that starts it, or %s=%d in its systemd unit", l.flag, n/l.unit, l.setting, n)
}
