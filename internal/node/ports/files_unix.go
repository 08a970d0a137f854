//go:build unix

package ports

import "syscall"

// fileLimit returns how many files this process may open.
func fileLimit() uint64 {
	var l syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l); err != nil {
		return defaultFiles
	}
	return uint64(l.Cur)
}
