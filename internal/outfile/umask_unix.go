//go:build unix

package outfile

import "syscall"

// OwnerOnly makes all files that this process and its children create from now on readable only by their owner,
// whatever package or library creates them, and however the process was started. A program should call it first.
// Files for other users are given their mode explicitly (Public).
func OwnerOnly() { syscall.Umask(0o077) }
