package barrels

import "testing"

func TestPieceLen(t *testing.T) {
	for n, want := range map[int]int{1: 1, 192: 192, 193: 128, 1000: 128} {
		if got := pieceLen(n); got != want {
			t.Errorf("a block of %d postings: %d", n, got)
		}
	}
}
