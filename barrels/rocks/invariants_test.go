//go:build invariants

package rocks

import (
	"encoding/binary"
	"testing"
)

func TestEntriesAreChecked(t *testing.T) {
	entry := func(key, value uint32, size int) []byte {
		b := binary.NativeEndian.AppendUint32(nil, key)
		return append(binary.NativeEndian.AppendUint32(b, value), make([]byte, size)...)
	}
	whole := append(entry(3, 5, 8), entry(0, 0, 0)...)
	checkEntries(whole, len(whole))
	checkEntries(whole, 0)
	for name, damaged := range map[string]func(){
		"more than the buffer":     func() { checkEntries(whole, len(whole)+1) },
		"a head that is cut off":   func() { checkEntries(whole, len(whole)-1) },
		"a value behind the end":   func() { checkEntries(entry(3, 6, 8), 16) },
		"a key that is far larger": func() { checkEntries(entry(1<<31, 0, 8), 16) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("not noticed")
				}
			}()
			damaged()
		})
	}
}
