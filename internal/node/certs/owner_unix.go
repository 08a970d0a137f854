//go:build unix

package certs

import (
	"os"
	"syscall"
)

// allowed returns the permissions that a secret file may have.
func allowed(info os.FileInfo) os.FileMode {
	if s, ok := info.Sys().(*syscall.Stat_t); ok && s.Uid == 0 {
		return 0o740
	}
	return 0o700
}
