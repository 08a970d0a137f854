package search

// Mismatch is why a keyword does not match a query: the first reason that applies.
type Mismatch uint8

// The reasons. They travel by their numbers: a new one comes last.
const (
	NoMismatch   Mismatch = iota // it matches
	WordsMissing                 // some of its words agree with no word of the query
	WordsDiffer                  // some agree only at a level that its match type, or the request, does not allow
	OtherWords                   // the query has words that the keyword lacks, and its match type allows no others
	Arrangement                  // all words agree, but not in the order, number or adjacency that its match type needs
)

// Mismatches is the number of values of Mismatch.
const Mismatches = int(Arrangement) + 1

var mismatchNames = [Mismatches]string{"", "words_missing", "words_differ", "other_words", "arrangement"}

// String returns the reason's name in answers, or "" for NoMismatch.
func (m Mismatch) String() string { return mismatchNames[m] }

// Mismatch returns, for explanations, why a keyword of type t with these fits does not match. It is NoMismatch
// exactly if Level returns a level. Bit i of `which` is set if word i of the keyword is responsible, or, for
// OtherWords, word i of the query. `pairs` has the best agreement of each word at any position; its Query is -1 if
// the word agrees with none.
func (m *Matcher) Mismatch(t MatchType, fits []Fit) (why Mismatch, which uint64, pairs []Pair) {
	if int(t) >= MatchTypes || m.Level(t, fits) != NoLevel {
		return NoMismatch, 0, nil
	}
	r := &m.rules[t]
	pairs = make([]Pair, len(fits))
	var missing, differing, found uint64
	for i := range fits {
		f := &fits[i]
		pairs[i].Query = -1
		pairs[i].at(f, m.all)
		switch {
		case f.Best == NoLevel:
			missing |= 1 << i
		case f.Best > r.reach:
			differing |= 1 << i
		default:
			found |= f.covered(r.reach)
		}
	}
	switch {
	case missing != 0:
		return WordsMissing, missing, pairs
	case differing != 0:
		return WordsDiffer, differing, pairs
	case (r.shape == sequence || r.shape == sameSet) && found != m.all:
		return OtherWords, m.all &^ found, pairs
	}
	return Arrangement, 0, pairs
}
