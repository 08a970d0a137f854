package oracle

import (
	"slices"

	"adshard/backend"
	"adshard/search"
)

// table says how each word of a keyword (row) agrees with each word of the query (column) under one language, within
// the rule's reach.
type table [][]search.Level

// match returns the level at which the keyword matches under its best language, and the table for that language. It
// returns NoLevel if the keyword does not match.
func (k *keyword) match(rule search.Rule, n int) (search.Level, table) {
	best, how := search.NoLevel, table(nil)
	for _, language := range k.languages {
		t := k.table(language, rule.Reach, n)
		if t == nil {
			continue
		}
		if l := t.match(rule, n); l < best {
			best, how = l, t
		}
	}
	return best, how
}

// languagesOf returns indexes of word.agree: the index `none` and those of the campaign's languages that are among the
// languages with stems.
func languagesOf(c *backend.Campaign, in []string) []int {
	list := []int{none}
	for i, l := range in {
		if slices.Contains(c.Languages.Codes(), l) {
			list = append(list, i+1)
		}
	}
	return list
}

// table returns the table for a language, or nil if a word of the keyword agrees with no word of the query, so that
// no rule matches.
func (k *keyword) table(language int, reach search.Level, n int) table {
	var t table
	for _, w := range k.words {
		row := w.agree[language]
		if row == nil {
			return nil
		}
		within := make([]search.Level, n)
		for j, l := range row {
			within[j] = search.NoLevel
			if l <= reach {
				within[j] = l
			}
		}
		t = append(t, within)
	}
	return t
}

// MatchTable returns the level at which a keyword matches, given how each of its words (row) agrees with each of the
// query's n words (column). It returns NoLevel if the keyword does not match.
func MatchTable(agree [][]search.Level, rule search.Rule, n int) search.Level {
	t := make(table, len(agree))
	for i, row := range agree {
		t[i] = slices.Clone(row)
		for j, l := range row {
			if l > rule.Reach {
				t[i][j] = search.NoLevel
			}
		}
	}
	return t.match(rule, n)
}

// match implements a rule's first three properties (serving.md §2).
func (t table) match(rule search.Rule, n int) search.Level {
	if rule.Ordered {
		if !rule.Others && len(t) != n {
			return search.NoLevel // the numbers of words must be equal
		}
		return t.sequence(rule.Adjacent || !rule.Others, n)
	}
	if !rule.Others {
		return t.set(0, n, true)
	}
	if !rule.Adjacent {
		return t.set(0, n, false)
	}
	best := search.NoLevel
	for from := range n {
		for to := from + 1; to <= n; to++ {
			best = min(best, t.set(from, to, true))
		}
	}
	return best
}

// set requires that each keyword word agrees with one of the query's words from ≤ j < to and, if `only` is set, that
// each of those agrees with a keyword word. It returns the level of the worst keyword word at its best agreement
// there.
func (t table) set(from, to int, only bool) search.Level {
	worst := search.Identical
	for _, row := range t {
		best := search.NoLevel
		for j := from; j < to; j++ {
			best = min(best, row[j])
		}
		worst = max(worst, best)
	}
	for j := from; j < to && only; j++ {
		if !t.covers(j) {
			return search.NoLevel
		}
	}
	return worst
}

// covers reports whether any keyword word agrees with the query's word j.
func (t table) covers(j int) bool {
	for _, row := range t {
		if row[j] < search.NoLevel {
			return true
		}
	}
	return false
}

// sequence places the keyword's words at ascending positions in the query, next to each other if adjacent is set. It
// returns the best level that the worst of the words can have.
func (t table) sequence(adjacent bool, n int) search.Level {
	// at[j] is that level for the words so far, with the last of them at j.
	at := t[0]
	for _, row := range t[1:] {
		next := slices.Repeat([]search.Level{search.NoLevel}, n)
		for j := range n {
			for before := range j {
				if !adjacent || before == j-1 {
					next[j] = min(next[j], max(at[before], row[j]))
				}
			}
		}
		at = next
	}
	return slices.Min(at)
}
