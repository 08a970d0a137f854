package ingest

import (
	"math/rand/v2"
	"testing"

	"adshard/internal/near"
)

// TestNearest: nearest finds the name with the fewest edits among others of any length and letters.
func TestNearest(t *testing.T) {
	var names nearNames
	account := names.account(1)
	random := rand.New(rand.NewPCG(3, 4))
	var all [][]rune
	for range 300 {
		w := make([]rune, 3+random.IntN(8))
		for i := range w {
			w[i] = []rune("abcdefgh")[random.IntN(8)]
		}
		all = append(all, w)
		names.add(account, string(w), 0)
	}
	for range 2000 {
		w := make([]rune, 1+random.IntN(12))
		for i := range w {
			w[i] = []rune("abcdefgh")[random.IntN(8)]
		}
		const none = nearDistance + 1
		least := none
		for _, other := range all {
			if d := near.Distance(w, other, nearDistance); d <= allowed(max(len(w), len(other))) {
				least = min(least, d)
			}
		}
		if least == 0 {
			continue // w is one of the names
		}
		found := account.nearest(string(w), 1)
		if (found == "") != (least == none) || found != "" && near.Distance(w, []rune(found), nearDistance) != least {
			t.Errorf("%s: %q, the nearest is %d away", string(w), found, least)
		}
	}
}

// allowed returns the edits allowed for a length: one from five characters on, two from nine.
func allowed(length int) (edits int) {
	for _, from := range []int{5, 9} {
		if length >= from {
			edits++
		}
	}
	return edits
}
