//go:build !linux

package query

// yieldThread does nothing: there is no portable way to let other threads run.
func yieldThread() {}
