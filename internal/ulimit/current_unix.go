//go:build unix

package ulimit

import "golang.org/x/sys/unix"

const (
	addressSpace = unix.RLIMIT_AS
	dataSize     = unix.RLIMIT_DATA
)

// Files returns the number of files that this process may open. Go has raised the soft limit to the hard one.
func Files() uint64 { return current(unix.RLIMIT_NOFILE) }

// current returns the limit of a resource, or Unlimited if it cannot be read.
func current(resource int) uint64 {
	var l unix.Rlimit
	if err := unix.Getrlimit(resource, &l); err != nil {
		return Unlimited
	}
	return uint64(l.Cur)
}
