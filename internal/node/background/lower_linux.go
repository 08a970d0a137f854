package background

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// niceness is added to the niceness of the threads: searches come first, and get most of the
// processors when both could use all of them.
const niceness = 10

// Lower lowers the priority of the calling goroutine's thread for good, and so that of the
// processes which it starts. The goroutine stays on the thread.
func Lower() {
	runtime.LockOSThread()
	own, err := unix.Getpriority(unix.PRIO_PROCESS, 0) // of this thread: 20 less its niceness
	if err == nil {
		_ = unix.Setpriority(unix.PRIO_PROCESS, 0, min(20-own+niceness, 19)) // if that fails, the thread competes with searches
	}
}
