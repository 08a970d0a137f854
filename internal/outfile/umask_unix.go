//go:build unix

package outfile

import "syscall"

// OwnerOnly makes all files that this process makes from now on, and its children, readable only by their
// owner, whatever package or library makes them, and however the process was started. A program calls it
// first. What is meant for others is given its mode by name (Public).
func OwnerOnly() { syscall.Umask(0o077) }
