package money

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

func TestFormat(t *testing.T) {
	for micros, want := range map[uint64]string{
		0: "0.00", 1: "0.000001", 10_000: "0.01", 250_000: "0.25", 1_431_112: "1.431112", 2_500_000: "2.50", 1_234_567_500_000: "1234567.50",
		math.MaxUint64: "18446744073709.551615",
	} {
		if got := Format(micros); got != want {
			t.Errorf("%d: %s, want %s", micros, got, want)
		}
	}
}

func TestParse(t *testing.T) {
	for _, text := range []string{"", ".", ".5", "-1", "+1", "1_0", "1e3", "1,5", "1.0000001", "1.-5", "18446744073709.551616", " 1"} {
		if micros, ok := Parse(text); ok {
			t.Errorf("%q is read as %d", text, micros)
		}
	}
	for text, want := range map[string]uint64{"2": 2_000_000, "2.": 2_000_000, "0.000001": 1, "007.25": 7_250_000} {
		if micros, ok := Parse(text); !ok || micros != want {
			t.Errorf("%q: %d, %v, want %d", text, micros, ok, want)
		}
	}
}

// TestParseReadsWhatFormatWrites, exactly.
func TestParseReadsWhatFormatWrites(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		micros := rapid.Uint64().Draw(t, "micros")
		if got, ok := Parse(Format(micros)); !ok || got != micros {
			t.Fatalf("%d is written as %s and read as %d, %v", micros, Format(micros), got, ok)
		}
	})
}
