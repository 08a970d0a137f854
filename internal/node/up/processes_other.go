//go:build !linux

package up

import "syscall"

func startsChildren() {}

func startsBulk() {}

// dieWithParent returns nil: only Linux can tie a child to its parent. On other systems, children
// end if the parent ends in an orderly way.
func dieWithParent() *syscall.SysProcAttr { return nil }
