//go:build !unix

package outfile

// OwnerOnly does nothing where files have no modes.
func OwnerOnly() {}
