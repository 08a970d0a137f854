package search

// Matcher matches keywords against one query under one profile. Only one goroutine may use it at a
// time.
//
// All words of a keyword must come with their terms in the same language: the whole keyword agrees
// in one language of its campaign (serving.md §2). The caller takes the best result of all
// languages.
type Matcher struct {
	// Query is the query; read-only.
	Query *Query
	words []Word // the first MaxQueryUnits words of the query
	all   uint64 // all positions of words
	rules [MatchTypes]queryRule
	// Reach is the furthest reach of all rules; read-only.
	Reach  Level
	terms  TermTable
	gather [MaxKeywordWords]*Fit
}

// queryRule is a Rule prepared for a query.
type queryRule struct {
	shape shape
	reach Level
	// least and most bound the number of words of a keyword that can match.
	least, most int
}

// newRule prepares a rule for a query with a number of words, of which several can agree with a run.
func newRule(r Rule, queryWords int, runs bool) queryRule {
	made := queryRule{shape: shapeOf(r), reach: min(r.Reach, Misspelt), least: 1, most: MaxKeywordWords}
	if r.Ordered {
		made.most = min(queryWords, MaxKeywordWords)
	}
	if made.shape == sequence && !runs {
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

// Reset prepares the matcher for a query. Fit needs a matcher of NewMatcher, which knows the
// query's terms; the other methods do not.
func (m *Matcher) Reset(q *Query, p Profile) {
	m.Query = q
	m.words = q.Words[:min(len(q.Words), MaxQueryUnits)]
	m.all = uint64(1)<<len(m.words) - 1
	m.Reach = Identical
	for t, r := range p {
		m.rules[t] = newRule(r, len(m.words), len(q.Runs) > 0)
		m.Reach = max(m.Reach, m.rules[t].reach)
	}
}

// Release drops the request's data, so that a pooled matcher does not keep them in memory.
func (m *Matcher) Release() {
	m.Query, m.words = nil, nil
	clear(m.gather[:])
}

// Fit matches one word against the query. norm and fold are the hashes of the normalised word and
// its folded form, and term is the term of the folded form in the keyword's language.
func (m *Matcher) Fit(norm, fold, term uint64) Fit {
	i := m.terms.Find(term)
	if i < 0 {
		return noFit
	}
	return m.FitOf(norm, fold, m.Query.Terms[i].Senses)
}

// FitOf is Fit for a word whose term has the given senses in the query.
func (m *Matcher) FitOf(norm, fold uint64, senses []Sense) Fit {
	f := noFit
	for _, s := range senses {
		if int(s.Word) >= len(m.words) {
			m.fitRun(&f, norm, int(s.Word)-len(m.words))
			continue
		}
		if l := agreement(norm, fold, m.words[s.Word], &s); l <= m.Reach {
			f.add(uint8(s.Word), l)
		}
	}
	return f
}

// fitRun records that a keyword's word agrees with a run of the query, if it is the same.
func (m *Matcher) fitRun(f *Fit, norm uint64, run int) {
	if run >= len(m.Query.Runs) {
		return // not made by Expand
	}
	if r := m.Query.Runs[run]; r.Norm == norm {
		f.More = r.More
		f.add(r.Word, Identical)
	}
}

// agreement returns the level at which a keyword's word agrees with a query's word that gave its
// term in a sense.
func agreement(norm, fold uint64, w Word, s *Sense) Level {
	switch {
	case s.Synonym != 0 && s.Synonym != fold:
		return NoLevel
	case s.Synonym != 0 && s.Misspelt:
		return Misspelt
	case s.Synonym != 0:
		return Synonym
	case norm == w.Norm:
		return Identical
	case fold == w.Fold:
		return Folded
	}
	return Inflected
}

// Level returns the level at which a keyword of type t matches, given the fits of its words in
// order, or NoLevel if it does not match. It is the level of the worst word, with each word at its
// best. If order or adjacency matters, it is that of the best place.
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

// LevelOf is Level for a type and number of words for which Possible holds.
func (m *Matcher) LevelOf(t MatchType, fits []*Fit) Level {
	r := &m.rules[t]
	if l := r.level(fits, m.all); l <= r.reach {
		return l
	}
	return NoLevel
}

// level returns the level of a match, which may be beyond the rule's reach.
func (r *queryRule) level(fits []*Fit, all uint64) Level {
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
		return matchSequence(fits, all)
	}
	return matchAnySet(fits)
}

// normsMost is the largest number of query words for which ByNorms pays off.
const normsMost = 12

// ByNorms decides on a keyword of type t by the hashes of its normalised words. decided is false if
// the terms are needed. The hashes suffice in two cases. If a word is not in the query, a rule that
// reaches only to Identical does not match. If all words are in the query, a rule that allows other
// words and ignores order and adjacency matches at Identical.
func (m *Matcher) ByNorms(t MatchType, norms []uint64) (l Level, decided bool) {
	if len(norms) == 0 || len(m.words) > normsMost || len(m.Query.Runs) > 0 {
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
