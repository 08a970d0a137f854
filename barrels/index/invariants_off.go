//go:build !invariants

package index

// Without the tag invariants nothing is checked (invariants_on.go).

func checkBlock(*Block) {}

// CheckImpacts does nothing.
func CheckImpacts(*Impacts, *Block) {}
