//go:build !linux

package background

// Lower does nothing: only Linux has priorities of threads.
func Lower() {}
