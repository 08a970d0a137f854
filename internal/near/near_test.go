package near

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

// TestDistance: against the plain table, on short words of few letters.
func TestDistance(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	word := func() []rune {
		w := make([]rune, random.IntN(7))
		for i := range w {
			w[i] = []rune("abž")[random.IntN(3)]
		}
		return w
	}
	for range 20_000 {
		a, b := word(), word()
		for most := range 3 {
			got, want := Distance(a, b, most), slowDistance(a, b)
			if got != want && (got <= most || want <= most) {
				t.Fatalf("%q to %q, at most %d: %d, want %d", string(a), string(b), most, got, want)
			}
		}
	}
}

func TestName(t *testing.T) {
	names := []string{"http", "listen", "log-format", "log-level", "db", "dir"}
	for wrong, want := range map[string]string{
		"lisen": "listen", "htpt": "http", "log-levle": "log-level", "loglevel": "log-level", "dbb": "db", "dri": "",
		"bd": "", "x": "", "": "", "nonsense": "", "http": "http",
	} {
		if got := Name(wrong, names); got != want {
			t.Errorf("%q: %q, want %q", wrong, got, want)
		}
	}
}
