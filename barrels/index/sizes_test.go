package index

import (
	"testing"
	"unsafe"
)

// TestSizeOfLoneList: most lists have one block, and eight bytes more would make Go's allocator round up to 240.
func TestSizeOfLoneList(t *testing.T) {
	if n := unsafe.Sizeof(loneList{}); n > 224 {
		t.Errorf("a list with its only block takes %d bytes", n)
	}
}
