package query

import "golang.org/x/sys/unix"

// yieldThread gives the processor to waiting threads. Otherwise the operating system would let a
// computing thread run on for milliseconds while another thread waits to read from the network.
func yieldThread() { _, _, _ = unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0) }
