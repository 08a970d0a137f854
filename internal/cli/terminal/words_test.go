package terminal

import "testing"

func TestWords(t *testing.T) {
	for ms, want := range map[int64]string{
		0: "just now", 999: "just now", 1000: "1 s ago", 59_999: "59 s ago", 60_000: "1 min ago", 61_000: "1 min 1 s ago",
		660_000: "11 min ago", 3_600_000: "1 h ago", 3_700_000: "1 h 1 min ago", 86_400_000: "24 h ago", 172_800_000: "2 days ago",
	} {
		if got := Ago(ms); got != want {
			t.Errorf("%d: %q, want %q", ms, got, want)
		}
	}
	for x, want := range map[float64]string{0: "0", -1: "0", 0.123: "0.12", 9.99: "9.99", 10: "10", 1234.5: "1,235", 1234567: "1,234,567", 1e30: "1e+30"} {
		if got := Loaded(x); got != want {
			t.Errorf("%v: %q, want %q", x, got, want)
		}
	}
	for x, want := range map[float64]string{0: "0 %", 0.0001: "<0.1 %", 0.034: "3.4 %", 0.5: "50 %", 1: "100 %"} {
		if got := Percent(x); got != want {
			t.Errorf("%v: %q, want %q", x, got, want)
		}
	}
	for x, want := range map[float64]string{
		0: "          │", 0.5: "█████     │", 1: "██████████│", 1.5: "██████████│█████", 99: "██████████│████████████████████",
	} {
		if got := Bar(x); got != want {
			t.Errorf("%v: %q, want %q", x, got, want)
		}
	}
}
