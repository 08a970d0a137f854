package spelling_test

import (
	"slices"
	"strings"
	"testing"

	"adshard/backend"
	"adshard/internal/goldentest"
	"adshard/internal/oracle"
	"adshard/search/words"
)

// TestGolden: the corrections, and those of the oracle, are those worked out from the specification.
func TestGolden(t *testing.T) {
	for line := range strings.Lines(string(goldentest.Read(t, "misspelt/cases.tsv"))) {
		cells := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		keywords, want := strings.Split(cells[0], "|"), strings.Fields(cells[2])
		it := new(backend.Item)
		for _, text := range keywords {
			it.Keywords = append(it.Keywords, backend.Keyword{Text: text})
		}
		frequencies, err := oracle.Count([]*backend.Item{it})
		if err != nil {
			t.Fatal(err)
		}
		split, err := words.Split(cells[1])
		if err != nil || len(split) != 1 {
			t.Fatal(cells[1], err)
		}
		if got := corrections(parse(t, keywords...), split[0].Fold); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", cells, got, want)
		}
		if got := oracle.Corrections(frequencies, split[0].Fold); !slices.Equal(got, want) {
			t.Errorf("%q: the oracle has %q, want %q", cells, got, want)
		}
	}
}
