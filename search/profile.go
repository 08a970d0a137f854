package search

// Rule is a match type as data: the six properties of serving.md §2 (other
// words allowed, order matters, adjacency matters, folding, inflection,
// synonyms), the last three as the worst level that is still taken.
type Rule struct {
	// Others: the query may hold words that the keyword does not.
	Others bool
	// Ordered: the words count as a sequence, else as a set.
	Ordered bool
	// Adjacent: the keyword's words stand next to each other in the query.
	Adjacent bool
	// Reach is the worst level at which a word agrees.
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

// Capped returns the profile with no match type reaching further than level.
func (p Profile) Capped(level Level) Profile {
	for i := range p {
		p[i].Reach = min(p[i].Reach, level)
	}
	return p
}
