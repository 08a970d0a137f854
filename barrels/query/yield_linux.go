package query

import "golang.org/x/sys/unix"

// yieldThread lets waiting threads have the processor. The operating system would let a computing
// thread continue for milliseconds, while another thread has to read from the network.
func yieldThread() { _, _, _ = unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0) }
