package search_test

import (
	"slices"
	"strings"
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
		{"手机", search.Broad, "红色手机壳", true},
		{"手壳", search.Broad, "手机壳", false},
		{"壳 手机", search.Broad, "手机壳", true},
		{"手机 壳", search.Phrase, "x手机壳", true},
		{"壳 手机", search.Phrase, "手机壳", false},
		{"手机 壳", search.Exact, "手机壳", true},
		{"手机", search.Exact, "手机壳", false},
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

// TestBlockedBy compares BlockedBy with lists of units, on random words and runs.
func TestBlockedBy(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pieces := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "手", "机", "カ", " ", " "}), 1, 9)
		text, negative := strings.Join(pieces.Draw(t, "query"), ""), strings.Join(pieces.Draw(t, "negative"), "")
		q, err := search.Expand(text, search.Synonym, nil)
		list, err2 := words.Split(negative)
		if err != nil || err2 != nil {
			t.Fatal(err, err2)
		}
		units, _ := slowUnits(text)
		var query, all []string
		for _, u := range units {
			query = append(query, u.Normalised)
		}
		within := func(part []string) bool {
			for i := range query {
				if len(query)-i >= len(part) && slices.Equal(query[i:i+len(part)], part) {
					return true
				}
			}
			return false
		}
		broad := true
		for _, w := range list {
			own := words.AppendUnits(nil, w.Normalised)
			all, broad = append(all, own...), broad && within(own)
		}
		want := [search.MatchTypes]bool{search.Exact: slices.Equal(query, all), search.Phrase: within(all), search.Broad: broad}
		for mt, w := range want {
			if got := q.BlockedBy(search.MatchType(mt), norms(negative)); got != (w && len(list) > 0) {
				t.Fatalf("%v %q, query %q: got %v, want %v", search.MatchType(mt), negative, text, got, w)
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
