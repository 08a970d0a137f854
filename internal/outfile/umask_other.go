//go:build !unix

package outfile

// OwnerOnly does nothing, since files have no modes here.
func OwnerOnly() {}
