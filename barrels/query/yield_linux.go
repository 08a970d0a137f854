package query

import "golang.org/x/sys/unix"

// yieldThread lets other threads have the processor, if any waits for it: the operating
// system would let a thread that computes go on for milliseconds, and what comes from the
// network is read by another one.
func yieldThread() { _, _, _ = unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0) }
