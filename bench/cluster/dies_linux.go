package cluster

import "syscall"

// dieWithParent has a child end when this process does, and keeps Ctrl-C from
// it: children are ended in order.
func dieWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
