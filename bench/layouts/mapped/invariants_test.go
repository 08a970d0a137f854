//go:build invariants

package mapped

import "testing"

func TestNumbersAreChecked(t *testing.T) {
	b := numbers(make([]byte, 16))
	if len(b) != 2 {
		t.Fatalf("%d numbers", len(b))
	}
	raw := make([]byte, 24)
	for name, part := range map[string][]byte{"half a number": raw[:12], "not at a multiple of 8": raw[4:12]} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("not noticed")
				}
			}()
			numbers(part)
		})
	}
}
