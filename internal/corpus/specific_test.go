package corpus

import (
	"context"
	"slices"
	"strings"
	"testing"
)

// demo returns the options of deploy/demo.sh.
func demo() Options {
	return Options{Keywords: 100_000, Queries: 20_000, Seed: 1, Specific: true, Demo: true}
}

// placesFor reports whether a keyword may be shown for the words of a query, by serving.md §3 for identically written
// words.
func placesFor(k *Keyword, query []string) bool {
	words := strings.Fields(strings.ToLower(k.Text))
	if k.Match == "Broad" {
		return !slices.ContainsFunc(words, func(w string) bool { return !slices.Contains(query, w) })
	}
	all, part := " "+strings.Join(query, " ")+" ", " "+strings.Join(words, " ")+" "
	return k.Match == "Phrase" && strings.Contains(all, part) || k.Match == "Exact" && all == part
}

// first returns the name of the group that ranks first for a query, and the keyword that placed it.
func first(t *testing.T, c *Corpus, o Options, query string) (group, keyword string) {
	t.Helper()
	best := 0
	for g, err := range c.Groups(context.Background(), o) {
		if err != nil {
			t.Fatal(err)
		}
		for i := range g.Keywords {
			k := &g.Keywords[i]
			bid := k.Bid
			if bid == 0 {
				bid = g.Bid
			}
			if rank := bid * k.Quality; rank > best && placesFor(k, strings.Fields(query)) {
				best, group, keyword = rank, g.Name, k.Text
			}
		}
	}
	return group, keyword
}

// TestTheDemoMakesSense: the groups that rank first for the queries of the demo fit these queries.
func TestTheDemoMakesSense(t *testing.T) {
	c := open(t)
	for query, wants := range map[string][]string{
		"usb cable":                   {"cable"},
		"wireless keyboard and mouse": {"keyboard", "mouse"},
		"memory card":                 {"memory", "card"},
	} {
		group, keyword := first(t, c, demo(), query)
		if !slices.ContainsFunc(wants, func(w string) bool { return strings.Contains(strings.ToLower(group), w) }) {
			t.Errorf("%s: %q by %q; want one of %q", query, group, keyword, wants)
		}
	}
}

// TestSpecificChangesQualitiesAlone: Specific changes nothing but qualities.
func TestSpecificChangesQualitiesAlone(t *testing.T) {
	c := open(t)
	o := Options{Keywords: 3000, Seed: 7, Encoding: UTF8}
	drawn, _ := write(t, c, o)
	o.Specific = true
	specific, _ := write(t, c, o)
	a, b := rows(t, drawn), rows(t, specific)
	if len(a) != len(b) {
		t.Fatalf("%d rows, %d with it", len(a), len(b))
	}
	given := make(map[string]bool)
	for i := range a {
		if positive(b[i]) {
			given[b[i]["Quality score"]] = true
		}
		for column := range b[i] {
			if column != "Quality score" && a[i][column] != b[i][column] {
				t.Fatalf("row %d: %s is %q, was %q", i, column, b[i][column], a[i][column])
			}
		}
	}
	if len(given) < 7 || given[""] {
		t.Errorf("qualities %v", given)
	}
	s := shape{items: c.items, words: c.words}
	if one, two, three := s.quality("wireless"), s.quality("wireless keyboard"), s.quality("wireless keyboard and mouse"); one > 2 || two <= one || three < two {
		t.Errorf("qualities %d, %d, %d", one, two, three)
	}
}
