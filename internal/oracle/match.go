package oracle

import (
	"slices"

	"adshard/backend"
	"adshard/search"
)

// table says how each word of a keyword agrees with the query under one language, within the rule's reach.
type table []row

// row is a word of a keyword: its number of units, and how it agrees with the units of the query from each on.
type row struct {
	units  int
	levels []search.Level
}

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
		levels := w.agree[language]
		if levels == nil {
			return nil
		}
		t = append(t, row{len(w.units), withinReach(levels, reach)})
	}
	return t
}

// withinReach returns levels with those beyond a reach replaced by NoLevel.
func withinReach(levels []search.Level, reach search.Level) []search.Level {
	out := slices.Clone(levels)
	for j, l := range out {
		if l > reach {
			out[j] = search.NoLevel
		}
	}
	return out
}

// MatchTable returns the level at which a keyword matches, given the number of units of each of its words (row), and how
// the word agrees with the query's n units from each on (column). It returns NoLevel if the keyword does not match.
func MatchTable(units []int, agree [][]search.Level, rule search.Rule, n int) search.Level {
	t := make(table, len(agree))
	for i, levels := range agree {
		t[i] = row{units[i], withinReach(levels, rule.Reach)}
	}
	return t.match(rule, n)
}

// match implements a rule's first three properties (serving.md §2).
func (t table) match(rule search.Rule, n int) search.Level {
	if rule.Ordered {
		units := 0
		for _, r := range t {
			units += r.units
		}
		if !rule.Others && units != n {
			return search.NoLevel // the numbers of units must be equal
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

// set requires that each keyword word agrees with some of the query's units from ≤ j < to and, if `only` is set, that
// each of those belongs to such an agreement. It returns the level of the worst keyword word at its best agreement
// there.
func (t table) set(from, to int, only bool) search.Level {
	worst := search.Identical
	for _, r := range t {
		best := search.NoLevel
		for j := from; j+r.units <= to; j++ {
			best = min(best, r.levels[j])
		}
		worst = max(worst, best)
	}
	for j := from; j < to && only; j++ {
		if !t.covers(j, from, to) {
			return search.NoLevel
		}
	}
	return worst
}

// covers reports whether any keyword word agrees with units from ≤ j < to of which `unit` is one.
func (t table) covers(unit, from, to int) bool {
	for _, r := range t {
		for j := from; j+r.units <= to; j++ {
			if r.levels[j] < search.NoLevel && j <= unit && unit < j+r.units {
				return true
			}
		}
	}
	return false
}

// sequence places the keyword's words one after the other in the query, next to each other if adjacent is set. It
// returns the best level that the worst of the words can have.
func (t table) sequence(adjacent bool, n int) search.Level {
	// at[j] is that level for the words so far, if they end before unit j.
	at := slices.Repeat([]search.Level{search.Identical}, n+1)
	for _, r := range t {
		next := slices.Repeat([]search.Level{search.NoLevel}, n+1)
		for j := 0; j+r.units <= n; j++ {
			for before := range j + 1 {
				if !adjacent || before == j {
					next[j+r.units] = min(next[j+r.units], max(at[before], r.levels[j]))
				}
			}
		}
		at = next
	}
	return slices.Min(at)
}
