package query

import (
	"adshard/barrels/block"
	"adshard/search"
)

// matcher decides at which level the classes of a block match. Each word of the block's vocabulary
// is matched against the query at most once, when a class first needs it.
type matcher struct {
	search.Matcher
	terms search.TermTable // the query's terms that keywords may have
	view  *block.View      // of the current block
	// refs holds, for each word of the vocabulary, the index of its Fit, or 0 if that is not known
	// yet.
	refs   []uint16
	fits   []search.Fit // index disagrees is for words that fit nothing
	gather [search.MaxKeywordWords]*search.Fit
}

// disagrees is the index in fits for words that agree with no word of the query.
const disagrees = 1

// use makes v the current block, whose words are to be matched.
func (m *matcher) use(v *block.View) {
	n := min(v.Words(), 1<<16-1) // postings refer to words by 16-bit numbers
	if cap(m.refs) < n {
		m.refs = make([]uint16, n+n/2)
	}
	m.view, m.refs = v, m.refs[:n]
	clear(m.refs)
	none := search.Fit{Best: search.NoLevel}
	m.fits = append(m.fits[:0], none, none)
}

// match matches a word of the vocabulary and returns the index of its Fit.
func (m *matcher) match(word int) (fit uint16) {
	fit = disagrees
	norm, fold, term := m.view.Word(word)
	if t := m.terms.Find(term); t >= 0 {
		if f := m.FitOf(norm, fold, m.Query.Terms[t].Senses); f.Best < search.NoLevel {
			fit = uint16(len(m.fits))
			m.fits = append(m.fits, f)
		}
	}
	m.refs[word] = fit
	return fit
}

// class returns the level at which a class of the current block matches.
func (m *matcher) class(t search.MatchType, words block.Refs) search.Level {
	n := words.Len()
	if !m.Possible(t, n) {
		return search.NoLevel
	}
	for i := range n {
		w := words.At(i)
		if w >= len(m.refs) {
			return search.NoLevel
		}
		fit := m.refs[w]
		if fit == 0 {
			fit = m.match(w)
		}
		if fit == disagrees {
			return search.NoLevel
		}
		m.gather[i] = &m.fits[fit]
	}
	return m.LevelOf(t, m.gather[:n])
}

// release drops references to a request.
func (m *matcher) release() {
	m.Matcher.Release()
	m.view = nil
	clear(m.gather[:])
}
