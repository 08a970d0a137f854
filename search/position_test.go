package search

import (
	"testing"

	"pgregory.net/rapid"

	"adshard/fault"
)

// TestPositions: a written position is read again, and no other text is accepted.
func TestPositions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := Position{rapid.Uint64().Draw(t, "clock"), rapid.Uint64().Draw(t, "mark")}
		if got, err := ParsePosition("min_clock", p.String()); err != nil || got != p {
			t.Fatalf("%v: %v, %v", p, got, err)
		}
		text := rapid.StringMatching(`[0-9a-fA-F+_-]{0,40}`).Draw(t, "text")
		if got, err := ParsePosition("min_clock", text); err == nil && got.String() != text {
			t.Fatalf("%q is taken as %v", text, got)
		} else if err != nil && (fault.FieldOf(err) != "min_clock" || !fault.Is(err, fault.Invalid)) {
			t.Fatal(err)
		}
	})
	for _, bad := range []string{"", "-", "12", "x-0000000000000000", "1-000000000000000", "01-0000000000000000", "1-0000000000000000 ", "10000000000000000-0000000000000000"} {
		if _, err := ParsePosition("min_clock", bad); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}
