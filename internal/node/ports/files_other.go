//go:build !unix

package ports

// fileLimit returns a low guess of how many files this process may open.
func fileLimit() uint64 { return defaultFiles }
