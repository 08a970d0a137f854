//go:build !invariants

package index

// Without the build tag invariants nothing is checked (see invariants_on.go).

func checkBlock(*Block) {}

// CheckImpacts does nothing.
func CheckImpacts(*Impacts, *Block) {}
