//go:build !unix

package ports

// fileLimit returns how many files this process may open, as far as is known.
func fileLimit() uint64 { return defaultFiles }
