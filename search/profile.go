package search

import "slices"

// Rule is a match type as data: the six properties of serving.md §2 (other words allowed, order
// matters, adjacency matters, folding, inflection, synonyms), the last three as the worst level
// that still matches.
type Rule struct {
	// Others means that the query may have words that the keyword does not have.
	Others bool
	// Ordered means that the words are compared as a sequence, otherwise as a set.
	Ordered bool
	// Adjacent means that the keyword's words must stand next to each other in the query.
	Adjacent bool
	// Reach is the worst level at which a word may agree.
	Reach Level
}

// Profile says what each match type means.
type Profile [MatchTypes]Rule

// DefaultProfile is the profile "default" of serving.md §2.
func DefaultProfile() Profile {
	return Profile{
		Exact:  {Ordered: true, Adjacent: true, Reach: Folded},
		Phrase: {Others: true, Ordered: true, Adjacent: true, Reach: Inflected},
		Broad:  {Others: true, Reach: Synonym},
	}
}

// SklikProfile is the profile "sklik": phrase needs all words, in any order,
// and allows others.
func SklikProfile() Profile {
	p := DefaultProfile()
	p[Phrase].Ordered, p[Phrase].Adjacent = false, false
	return p
}

// Corrects reports whether a match type reaches Misspelt.
func (p *Profile) Corrects() bool {
	return slices.ContainsFunc(p[:], func(r Rule) bool { return r.Reach == Misspelt })
}

// Capped returns the profile with the reach of each match type limited to the given level. No match type
// reaches Misspelt but Broad, if the level is Misspelt and the profile lets it reach Synonym.
func (p Profile) Capped(level Level) Profile {
	for i := range p {
		if MatchType(i) == Broad && level == Misspelt && p[i].Reach >= Synonym {
			p[i].Reach = Misspelt
			continue
		}
		p[i].Reach = min(p[i].Reach, level, Synonym)
	}
	return p
}
