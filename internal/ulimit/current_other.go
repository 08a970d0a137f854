//go:build !unix

package ulimit

const (
	addressSpace = iota
	dataSize
)

// Files returns a low estimate of the number of files that this process may open.
func Files() uint64 { return wellFiles }

// current returns no limit.
func current(int) uint64 { return Unlimited }
