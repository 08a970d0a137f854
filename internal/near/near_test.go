package near

import (
	"math/rand/v2"
	"testing"
)

// slowDistance computes the distance with the whole table.
func slowDistance(a, b []rune) int {
	table := make([][]int, len(a)+1)
	for i := range table {
		table[i] = make([]int, len(b)+1)
		for j := range table[i] {
			switch {
			case i == 0 || j == 0:
				table[i][j] = i + j
				continue
			case a[i-1] == b[j-1]:
				table[i][j] = table[i-1][j-1]
			default:
				table[i][j] = table[i-1][j-1] + 1
			}
			table[i][j] = min(table[i][j], table[i-1][j]+1, table[i][j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				table[i][j] = min(table[i][j], table[i-2][j-2]+1)
			}
		}
	}
	return table[len(a)][len(b)]
}

// TestDistance compares the distance with that of the plain table, for short words of few letters.
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
		"lisen": "listen", "htpt": "http", "log-levle": "log-level", "loglevel": "log-level", "dbb": "db", "dri": "dir",
		"bd": "db", "x": "", "": "", "nonsense": "", "http": "http",
	} {
		if got := Name(wrong, names); got != want {
			t.Errorf("%q: %q, want %q", wrong, got, want)
		}
	}
}
