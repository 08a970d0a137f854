//go:build invariants

package rocks

import (
	"encoding/binary"
	"fmt"
)

// Builds with the tag invariants check what C has written into Go's memory. The race and fuzz runs
// of the tests use it.

// checkEntries panics if a call into C reports that it used more of a buffer than there is, or
// wrote only a part of an entry.
func checkEntries(buffer []byte, used int) {
	if used > len(buffer) {
		panic(fmt.Sprintf("rocks: invariant: %d bytes of entries in a buffer of %d", used, len(buffer)))
	}
	for at := 0; at < used; {
		size := entryHead
		if used-at >= entryHead {
			size += int(binary.NativeEndian.Uint32(buffer[at:])) + int(binary.NativeEndian.Uint32(buffer[at+4:]))
		}
		if at += size; at > used {
			panic(fmt.Sprintf("rocks: invariant: an entry ends at %d of %d bytes", at, used))
		}
	}
}

// spoil overwrites a buffer that its iterator gives back, so that code which reads a key or a value
// after the iterator was closed sees something else.
func spoil(buffer []byte) {
	for i := range buffer {
		buffer[i] = 0xdb
	}
}
