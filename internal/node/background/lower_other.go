//go:build !linux

package background

// Lower does nothing: only Linux has priorities for single threads.
func Lower() {}
