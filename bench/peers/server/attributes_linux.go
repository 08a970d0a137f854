package server

import "syscall"

// capDacOverride lets a process reach its directory whoever owns the parent directories.
const capDacOverride = 1

// attributes returns process attributes that make a child end when this process does, shield
// it from Ctrl-C (children are ended in order), and run it as a user. That user may enter all
// directories, because its working directory can be below one of this user's.
func attributes(c Config) *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{Setpgid: true, Pdeathsig: c.Orphan}
	if u := c.User; u != nil {
		a.Credential = &syscall.Credential{Uid: u.ID, Gid: u.Group}
		a.AmbientCaps = []uintptr{capDacOverride}
	}
	return a
}
