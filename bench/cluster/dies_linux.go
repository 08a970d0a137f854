package cluster

import "syscall"

// dieWithParent makes a child end when this process does, and shields it from
// Ctrl-C, because children are ended in order.
func dieWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
