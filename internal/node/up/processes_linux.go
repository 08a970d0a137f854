package up

import (
	"runtime"
	"syscall"
)

// lockThread keeps the goroutine on its thread: the kernel sends the signal of
// dieWithParent when the thread that started the child ends.
func lockThread() { runtime.LockOSThread() }

// dieWithParent ends a child when its parent is gone, also after kill -9.
func dieWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
}
