package server

import (
	"os"
	"os/user"
	"path/filepath"
	"strconv"

	"adshard/fault"
)

// User is another user, who can run a process.
type User struct{ ID, Group uint32 }

// Unprivileged finds a user for a program that refuses to run as root: the first
// of the names that exists. It returns nil if this program does not run as root.
func Unprivileged(names ...string) (*User, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	for _, name := range names {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		id, err := strconv.ParseUint(u.Uid, 10, 32)
		if err != nil {
			return nil, err
		}
		group, err := strconv.ParseUint(u.Gid, 10, 32)
		if err != nil {
			return nil, err
		}
		return &User{ID: uint32(id), Group: uint32(group)}, nil
	}
	return nil, fault.Newf(fault.Unavailable, "server: user", "there is no user %v to run as: add one, or do not run as root", names)
}

// Own makes a directory for the data of the user's processes.
func (u *User) Own(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil || u == nil {
		return err
	}
	return os.Chown(dir, int(u.ID), int(u.Group))
}

// SocketDir makes a directory for unix sockets, whose paths must be short. The
// caller must remove it.
func SocketDir(u *User) (string, error) {
	dir, err := os.MkdirTemp("", "peer")
	if err != nil {
		return "", err
	}
	return filepath.Clean(dir), u.Own(dir)
}
