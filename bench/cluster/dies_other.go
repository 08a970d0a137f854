//go:build !linux

package cluster

import "syscall"

// dieWithParent keeps Ctrl-C from a child: children are ended in order.
func dieWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
