package server

import "syscall"

// capDacOverride lets a process reach its directory whatever the owner of its
// parents.
const capDacOverride = 1

// attributes have a child end when this process does, keep Ctrl-C from it (children are ended
// in order), and run it as a user. That user may enter all directories, since its working
// directory can lie below one of ours.
func attributes(c Config) *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{Setpgid: true, Pdeathsig: c.Orphan}
	if u := c.User; u != nil {
		a.Credential = &syscall.Credential{Uid: u.ID, Gid: u.Group}
		a.AmbientCaps = []uintptr{capDacOverride}
	}
	return a
}
