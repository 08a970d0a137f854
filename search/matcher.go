package search

import "encoding/binary"

// Matcher holds keywords against one query under one profile. It is for one
// goroutine at a time.
//
// All words of a keyword are to be given with their terms in one language: a
// keyword agrees under one language of its campaign as a whole (serving.md
// §2). The caller takes the best over the languages.
type Matcher struct {
	query  *Query
	words  []Word // the first MaxQueryWords of the query's
	all    uint32 // all positions of words
	rules  [MatchTypes]rule
	reach  Level // the furthest of all rules
	terms  termTable
	gather [MaxKeywordWords]*Fit
	vocabulary
}

// rule is a Rule made ready for a query.
type rule struct {
	shape shape
	reach Level
	// least and most are the numbers of words that can match at all.
	least, most int
}

func newRule(r Rule, queryWords int) rule {
	made := rule{shape: shapeOf(r), reach: min(r.Reach, Synonym), least: 1, most: MaxKeywordWords}
	if r.Ordered {
		made.most = min(queryWords, MaxKeywordWords)
	}
	if made.shape == sequence {
		made.least = queryWords
	}
	return made
}

// vocabulary is a block's words held against the query, each when a class
// first needs it.
type vocabulary struct {
	block Block
	// refs holds for each word of the block the index of its Fit; 0: not yet
	// known.
	refs []uint16
	fits []Fit // from index 1, which is noFit
}

// disagrees is the index in fits of words that agree with nothing.
const disagrees = 1

// NewMatcher returns a matcher.
func NewMatcher(q *Query, p Profile) *Matcher {
	m := new(Matcher)
	m.reset(q, p)
	m.terms.reset(q.Terms)
	return m
}

// reset begins a query, without its terms.
func (m *Matcher) reset(q *Query, p Profile) {
	m.query = q
	m.words = q.Words[:min(len(q.Words), MaxQueryWords)]
	m.all = uint32(uint64(1)<<len(m.words) - 1)
	m.reach = Identical
	for t, r := range p {
		m.rules[t] = newRule(r, len(m.words))
		m.reach = max(m.reach, m.rules[t].reach)
	}
}

// release drops what belongs to a request, so that a pooled matcher holds
// nothing back.
func (m *Matcher) release() {
	m.query, m.words, m.block = nil, nil, nil
	clear(m.gather[:])
}

// Fit holds one word against the query: the hashes of its normalised word and
// of its folded form, and its term in the language that it is held under.
func (m *Matcher) Fit(norm, fold, term uint64) Fit {
	i := m.terms.find(term)
	if i < 0 {
		return noFit
	}
	return m.fit(norm, fold, m.query.Terms[i].Senses)
}

func (m *Matcher) fit(norm, fold uint64, senses []Sense) Fit {
	f := noFit
	for _, s := range senses {
		if int(s.Word) >= len(m.words) {
			continue // not made by Expand
		}
		if l := agreement(norm, fold, m.words[s.Word], s.Synonym); l <= m.reach {
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

// Level returns the level at which a keyword of type t matches, given the fits
// of its words in order; NoLevel when it does not. It is that of the worst
// word, each taken at its best; where places count, at the best place.
func (m *Matcher) Level(t MatchType, fits []Fit) Level {
	if !m.possible(t, len(fits)) {
		return NoLevel
	}
	for i := range fits {
		m.gather[i] = &fits[i]
	}
	return m.level(t, m.gather[:len(fits)])
}

// possible tells whether a keyword of type t with n words can match.
func (m *Matcher) possible(t MatchType, n int) bool {
	return int(t) < MatchTypes && n >= m.rules[t].least && n <= m.rules[t].most
}

// level is Level for a type and a number of words that are possible.
func (m *Matcher) level(t MatchType, fits []*Fit) Level {
	r := &m.rules[t]
	if l := r.level(fits, m.all); l <= r.reach {
		return l
	}
	return NoLevel
}

// level may be beyond the rule's reach.
func (r *rule) level(fits []*Fit, all uint32) Level {
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

// take makes b the block whose classes are decided on.
func (m *Matcher) take(b Block) {
	n := min(b.Words(), 1<<16-1) // postings refer to words by 16 bits
	if cap(m.refs) < n {
		m.refs = make([]uint16, n+n/2)
	}
	m.block, m.refs = b, m.refs[:n]
	clear(m.refs)
	m.fits = append(m.fits[:0], noFit, noFit)
}

// hold holds a word of the block against the query.
func (m *Matcher) hold(word uint16) (fit uint16) {
	fit = disagrees
	norm, fold, term := m.block.Word(int(word))
	if t := m.terms.find(term); t >= 0 {
		if f := m.fit(norm, fold, m.query.Terms[t].Senses); f.Best < NoLevel {
			fit = uint16(len(m.fits))
			m.fits = append(m.fits, f)
		}
	}
	m.refs[word] = fit
	return fit
}

// normsMost is the number of a query's words up to which byNorms is the faster
// way.
const normsMost = 12

// byNorms decides on a keyword of type t whose words have these norms, as far as
// they tell: when each of them is one of the query's it matches at Identical,
// wherever the words may stand; when one is not, not at Identical.
func (m *Matcher) byNorms(t MatchType, norms []uint64) (l Level, decided bool) {
	if len(norms) == 0 || len(m.words) > normsMost {
		return NoLevel, false
	}
	if !m.possible(t, len(norms)) {
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

// class decides on a class of the block last taken.
func (m *Matcher) class(t MatchType, words []byte) Level {
	n := len(words) / 2
	if !m.possible(t, n) {
		return NoLevel
	}
	for i := range n {
		w := binary.LittleEndian.Uint16(words[2*i:])
		if int(w) >= len(m.refs) {
			return NoLevel
		}
		fit := m.refs[w]
		if fit == 0 {
			fit = m.hold(w)
		}
		if fit == disagrees {
			return NoLevel
		}
		m.gather[i] = &m.fits[fit]
	}
	return m.level(t, m.gather[:n])
}
