// Package kv has an interface that a package beside it implements.
package kv

// KV is what rocks implements.
type KV interface{ Get() error }

// Helper is called directly.
func Helper() {}
