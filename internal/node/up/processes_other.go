//go:build !linux

package up

import "syscall"

func startsChildren() {}

func startsBulk() {}

// dieWithParent: only Linux can tie a child to its parent; elsewhere children
// end when the parent ends in order.
func dieWithParent() *syscall.SysProcAttr { return nil }
