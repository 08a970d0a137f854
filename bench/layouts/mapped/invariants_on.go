//go:build invariants

package mapped

import (
	"fmt"
	"unsafe"
)

// Builds with the tag invariants check what unsafe reads. The race and fuzz runs of the
// tests use it.

// checkNumbers panics if the bytes are not whole numbers at a multiple of 8 in memory.
func checkNumbers(b []byte) {
	if at := uintptr(unsafe.Pointer(unsafe.SliceData(b))); len(b)%8 != 0 || len(b) > 0 && at%8 != 0 {
		panic(fmt.Sprintf("mapped: invariant: %d bytes at address %x are not numbers", len(b), at))
	}
}
