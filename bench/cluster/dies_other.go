//go:build !linux

package cluster

import "syscall"

// dieWithParent shields a child from Ctrl-C, because children are ended in
// order.
func dieWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
