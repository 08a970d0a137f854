package up

import (
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"adshard/internal/node/background"
)

// timerSlack is how late timers of children may fire, so that they fire together. A Go
// process with work to do has a thread that sleeps for 20 µs at a time; in processes
// that share cores, its waking took a tenth of their time (docs/decisions/013).
const timerSlack = 500 * time.Microsecond

// startsChildren prepares the goroutine that starts children, which inherit the timer
// slack of its thread. It stays on it: the kernel sends the signal of dieWithParent when
// the thread that started the child ends.
func startsChildren() {
	runtime.LockOSThread()
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, uintptr(timerSlack.Nanoseconds()), 0, 0, 0) // else it costs more
}

// startsBulk is startsChildren for processes that prepare data.
func startsBulk() {
	startsChildren()
	background.Lower()
}

// dieWithParent ends a child when its parent is gone, also after kill -9.
func dieWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
}
