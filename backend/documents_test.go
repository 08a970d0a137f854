package backend

import (
	"strings"
	"testing"

	"adshard/fault"
)

func TestPackDocument(t *testing.T) {
	for _, text := range []string{"", "a", strings.Repeat("places\t", 100_000)} {
		packed := PackDocument(text)
		if got, err := UnpackDocument(packed); err != nil || got != text {
			t.Errorf("%d bytes of %d, %v", len(got), len(text), err)
		}
		for _, damaged := range [][]byte{nil, packed[:len(packed)-1], append([]byte{7}, packed...)} {
			if _, err := UnpackDocument(damaged); !fault.Is(err, fault.Corrupt) {
				t.Errorf("%d bytes: %v", len(damaged), err)
			}
		}
	}
}

// TestUnpackTooMuch: data that would unpack to too many bytes is rejected before it fills the memory.
func TestUnpackTooMuch(t *testing.T) {
	packed := PackDocument(strings.Repeat("0", 1001))
	if text, err := unpackWhole(packed, 1001); err != nil || len(text) != 1001 {
		t.Errorf("%d bytes, %v", len(text), err)
	}
	if _, err := unpackWhole(packed, 1000); !fault.Is(err, fault.Corrupt) {
		t.Error(err)
	}
}
