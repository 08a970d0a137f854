package words

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the stems of the golden words anew")

// TestGoldenStems pins the stems of everyday words in each language: if any of them changes, the version of its stemmer must change,
// and with it rules. A line is a language, a stem, and the words that have it.
func TestGoldenStems(t *testing.T) {
	const file = "testdata/stems.tsv"
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	words := make(map[string]int) // by language
	var lines []string
	at := make(map[string]int)
	for line := range strings.Lines(string(b)) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		for _, w := range strings.Fields(f[2]) {
			words[f[0]]++
			stem, _ := Stem(f[0], folded(w))
			if stem != f[1] && !*update {
				t.Errorf("%s: %s has the stem %s, want %s", f[0], w, stem, f[1])
			}
			key := f[0] + "\t" + stem + "\t"
			if i, ok := at[key]; ok {
				lines[i] += " " + w
			} else {
				at[key] = len(lines)
				lines = append(lines, key+w)
			}
		}
	}
	for _, code := range Stemmed() {
		if n := words[code]; n < 200 {
			t.Errorf("%s has %d golden words", code, n)
		}
	}
	if *update {
		if err := os.WriteFile(file, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		fmt.Println("wrote", file)
	}
}
