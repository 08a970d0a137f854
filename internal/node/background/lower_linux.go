package background

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// niceness is how much nicer the threads are: searches come first, and have most of the
// processors when both want all.
const niceness = 10

// Lower lowers the priority of the calling goroutine's thread for good, and that of the
// processes which it starts; the goroutine stays on the thread.
func Lower() {
	runtime.LockOSThread()
	own, err := unix.Getpriority(unix.PRIO_PROCESS, 0) // of this thread: 20 less its niceness
	if err == nil {
		_ = unix.Setpriority(unix.PRIO_PROCESS, 0, min(20-own+niceness, 19)) // else they compete
	}
}
