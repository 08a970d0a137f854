package search_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"adshard/search"
	"adshard/search/words"
)

// TestBlockedByTable checks the clauses of serving.md §3.
func TestBlockedByTable(t *testing.T) {
	for _, c := range []struct {
		negative string
		mt       search.MatchType
		query    string
		want     bool
	}{
		{"usb", search.Broad, "cheap usb cable", true},
		{"cable usb", search.Broad, "usb cheap cable", true},
		{"usb usb", search.Broad, "usb", true}, // all its words are in the query
		{"usb hub", search.Broad, "usb cable", false},
		{"usb cable", search.Phrase, "cheap usb cable", true},
		{"usb cable", search.Phrase, "cheap cable usb", false},
		{"usb cable", search.Phrase, "usb cheap cable", false},
		{"usb usb", search.Phrase, "usb", false},
		{"usb cable", search.Exact, "USB cable", true},
		{"usb cable", search.Exact, "usb cable x", false},
		{"usb cable", search.Exact, "usb", false},
		{"café", search.Broad, "cafe", false}, // only identical words agree
		{"cable", search.Broad, "cables", false},
		{"", search.Broad, "usb", false},
		{"usb", search.Broad, "", false},
		{"usb", search.MatchTypes, "usb", false},
	} {
		q, err := search.Expand(c.query, search.Synonym, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := q.BlockedBy(c.mt, norms(c.negative)); got != c.want {
			t.Errorf("negative %v %q, query %q: got %v", c.mt, c.negative, c.query, got)
		}
	}
}

// TestBlockedBy compares BlockedBy with slices and sets, on random words.
func TestBlockedBy(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := rapid.SliceOfN(rapid.Uint64Range(1, 4), 1, 6)
		query, norm := list.Draw(t, "query"), list.Draw(t, "negative")
		q := &search.Query{}
		for _, w := range query {
			q.Words = append(q.Words, search.Word{Norm: w, Fold: 9})
		}
		phrase, broad := false, true
		for i := range query {
			phrase = phrase || len(query)-i >= len(norm) && slices.Equal(query[i:i+len(norm)], norm)
		}
		for _, w := range norm {
			broad = broad && slices.Contains(query, w)
		}
		want := [search.MatchTypes]bool{
			search.Exact: slices.Equal(query, norm), search.Phrase: phrase, search.Broad: broad,
		}
		for mt, w := range want {
			if got := q.BlockedBy(search.MatchType(mt), norm); got != w {
				t.Fatalf("%v: got %v, want %v", search.MatchType(mt), got, w)
			}
		}
	})
}

// norms returns the hashes of a text's normalised words.
func norms(text string) (hashes []uint64) {
	split, err := words.Split(text)
	if err != nil {
		panic(err)
	}
	for _, w := range split {
		hashes = append(hashes, words.Hash(w.Normalised))
	}
	return hashes
}
