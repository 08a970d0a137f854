package search

// Matcher matches keywords against one query under one profile. It is for one
// goroutine at a time.
//
// All words of a keyword must be given with their terms in one language: a keyword agrees as a
// whole under one language of its campaign (serving.md §2). The caller takes the best over the
// languages.
type Matcher struct {
	// Query is the query; read-only.
	Query *Query
	words []Word // the first MaxQueryWords of the query's
	all   uint32 // all positions of words
	rules [MatchTypes]queryRule
	// Reach is the furthest of all rules; read-only.
	Reach  Level
	terms  TermTable
	gather [MaxKeywordWords]*Fit
}

// queryRule is a Rule made ready for a query.
type queryRule struct {
	shape shape
	reach Level
	// least and most are the numbers of words that can match at all.
	least, most int
}

func newRule(r Rule, queryWords int) queryRule {
	made := queryRule{shape: shapeOf(r), reach: min(r.Reach, Synonym), least: 1, most: MaxKeywordWords}
	if r.Ordered {
		made.most = min(queryWords, MaxKeywordWords)
	}
	if made.shape == sequence {
		made.least = queryWords
	}
	return made
}

// NewMatcher returns a matcher.
func NewMatcher(q *Query, p Profile) *Matcher {
	m := new(Matcher)
	m.Reset(q, p)
	m.terms.reset(q.Terms)
	return m
}

// Reset begins a query. Fit needs a matcher of NewMatcher, which knows the
// query's terms; the other methods do without.
func (m *Matcher) Reset(q *Query, p Profile) {
	m.Query = q
	m.words = q.Words[:min(len(q.Words), MaxQueryWords)]
	m.all = uint32(uint64(1)<<len(m.words) - 1)
	m.Reach = Identical
	for t, r := range p {
		m.rules[t] = newRule(r, len(m.words))
		m.Reach = max(m.Reach, m.rules[t].reach)
	}
}

// Release drops the request's data, so that a pooled matcher does not keep them in memory.
func (m *Matcher) Release() {
	m.Query, m.words = nil, nil
	clear(m.gather[:])
}

// Fit matches one word against the query: the hashes of its normalised word and
// of its folded form, and its term in the form's language.
func (m *Matcher) Fit(norm, fold, term uint64) Fit {
	i := m.terms.Find(term)
	if i < 0 {
		return noFit
	}
	return m.FitOf(norm, fold, m.Query.Terms[i].Senses)
}

// FitOf is Fit for a word whose term has these senses in the query.
func (m *Matcher) FitOf(norm, fold uint64, senses []Sense) Fit {
	f := noFit
	for _, s := range senses {
		if int(s.Word) >= len(m.words) {
			continue // not made by Expand
		}
		if l := agreement(norm, fold, m.words[s.Word], s.Synonym); l <= m.Reach {
			f.add(s.Word, l)
		}
	}
	return f
}

// agreement is the level at which a keyword's word agrees with a query's word
// that gives its term, as itself (synonym 0) or by a synonym.
func agreement(norm, fold uint64, w Word, synonym uint64) Level {
	switch {
	case synonym != 0 && synonym != fold:
		return NoLevel
	case synonym != 0:
		return Synonym
	case norm == w.Norm:
		return Identical
	case fold == w.Fold:
		return Folded
	}
	return Inflected
}

// Level returns the level at which a keyword of type t matches, given the fits of its words in
// order; NoLevel: it does not match. It is the level of the worst word, each at its best. Where
// places count, it is that of the best place.
func (m *Matcher) Level(t MatchType, fits []Fit) Level {
	if !m.Possible(t, len(fits)) {
		return NoLevel
	}
	for i := range fits {
		m.gather[i] = &fits[i]
	}
	return m.LevelOf(t, m.gather[:len(fits)])
}

// Possible reports whether a keyword of type t with n words can match.
func (m *Matcher) Possible(t MatchType, n int) bool {
	return int(t) < MatchTypes && n >= m.rules[t].least && n <= m.rules[t].most
}

// LevelOf is Level for a type and a number of words that are Possible.
func (m *Matcher) LevelOf(t MatchType, fits []*Fit) Level {
	r := &m.rules[t]
	if l := r.level(fits, m.all); l <= r.reach {
		return l
	}
	return NoLevel
}

// level may be beyond the rule's reach.
func (r *queryRule) level(fits []*Fit, all uint32) Level {
	switch r.shape {
	case sameSet:
		return matchSameSet(fits, all, r.reach)
	case runSet:
		return matchRunSet(fits, r.reach)
	case subsequence:
		return matchSubsequence(fits, r.reach)
	case phrase:
		return matchPhrase(fits, r.reach)
	case sequence:
		return matchSequence(fits)
	}
	return matchAnySet(fits)
}

// normsMost is the number of a query's words up to which ByNorms pays.
const normsMost = 12

// ByNorms decides on a keyword of type t from the hashes of its normalised words only; decided is
// false when their terms are needed. That suffices in two cases. If a word is not in the query,
// a rule that reaches no further than Identical does not match. If all are, a rule without order
// and adjacency, which allows other words, matches at Identical.
func (m *Matcher) ByNorms(t MatchType, norms []uint64) (l Level, decided bool) {
	if len(norms) == 0 || len(m.words) > normsMost {
		return NoLevel, false
	}
	if !m.Possible(t, len(norms)) {
		return NoLevel, true
	}
	r := &m.rules[t]
	for _, n := range norms {
		if !holds(m.words, n) {
			return NoLevel, r.reach == Identical
		}
	}
	return Identical, r.shape == anySet
}
