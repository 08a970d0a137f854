package up

import (
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"adshard/internal/node/background"
)

// timerSlack is how late the timers of children may fire, so that several fire together. A Go
// process with work to do has a thread that sleeps for 20 µs at a time. In processes that shared
// cores, waking this thread took a tenth of their time (docs/decisions/013).
const timerSlack = 500 * time.Microsecond

// startsChildren prepares the goroutine that starts children, which inherit the timer slack of its
// thread. The goroutine stays on that thread, since the kernel sends the signal of dieWithParent
// when the thread that started a child ends.
func startsChildren() {
	runtime.LockOSThread()
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, uintptr(timerSlack.Nanoseconds()), 0, 0, 0) // without it, the children use more processor time
}

// startsBulk does the work of startsChildren for processes that prepare data.
func startsBulk() {
	startsChildren()
	background.Lower()
}

// dieWithParent makes a child end when its parent has ended, even after kill -9.
func dieWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
}
