package block

import "testing"

func TestFill(t *testing.T) {
	for n, want := range map[int]int{1: 1, 192: 192, 193: 128, 1000: 128} {
		if got := Fill(n); got != want {
			t.Errorf("a block of %d postings: %d", n, got)
		}
	}
}
