package ingest

import (
	"math/rand/v2"
	"testing"
)

// slowDistance is the whole table of Levenshtein.
func slowDistance(a, b []rune) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range a {
		diagonal := row[0]
		row[0] = i + 1
		for j := range b {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(diagonal+cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

// TestNearest: what is near is found among others, whatever its length and
// letters; the nearest counts.
func TestNearest(t *testing.T) {
	var names nearNames
	account := names.account(1)
	random := rand.New(rand.NewPCG(3, 4))
	var all [][]rune
	for range 300 {
		w := make([]rune, 3+random.IntN(5))
		for i := range w {
			w[i] = []rune("abcdefgh")[random.IntN(8)]
		}
		all = append(all, w)
		names.add(account, string(w))
	}
	for range 2000 {
		w := make([]rune, 1+random.IntN(9))
		for i := range w {
			w[i] = []rune("abcdefgh")[random.IntN(8)]
		}
		least := nearDistance + 1
		for _, other := range all {
			least = min(least, slowDistance(w, other))
		}
		if least == 0 {
			continue // it is one of them
		}
		near := account.nearest(string(w))
		if (near == "") != (least > nearDistance) || near != "" && slowDistance(w, []rune(near)) != least {
			t.Errorf("%s: %q, the nearest is %d away", string(w), near, least)
		}
	}
}
