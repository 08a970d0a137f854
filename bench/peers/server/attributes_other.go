//go:build !linux

package server

import "syscall"

// attributes returns process attributes that shield a child from Ctrl-C
// (children are ended in order) and run it as a user.
func attributes(c Config) *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{Setpgid: true}
	if u := c.User; u != nil {
		a.Credential = &syscall.Credential{Uid: u.ID, Gid: u.Group}
	}
	return a
}
