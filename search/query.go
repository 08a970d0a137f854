package search

// Word is a word of a query or keyword, as hashes (words.Hash).
type Word struct {
	Norm uint64 // of the normalised word
	Fold uint64 // of the folded form
}

// Sense is one way in which a term came from a word of the query.
type Sense struct {
	// Word is the index of the query's word, or len(Words) plus the index of the run.
	Word uint16
	// Misspelt means that the term is that of a correction, not of a synonym.
	Misspelt bool
	// Synonym is the hash of the folded form that a keyword's word must have to agree as a synonym or
	// a correction, or 0 if the term is that of the word's own stem.
	Synonym uint64
}

// Run is a sequence of words of a query that a keyword may have as one word.
type Run struct {
	Norm uint64 // hash of the normalised run
	Word uint8  // index of the first word
	More uint8  // number of the words after it
}

// MaxQueryRuns is the largest number of runs of a query.
const MaxQueryRuns = MaxQueryUnits * (MaxQueryUnits - 1) / 2

// QueryTerm is a term that may be the anchor of matching keywords.
type QueryTerm struct {
	Term   uint64 // words.TermOf
	Senses []Sense
}

// Cap returns the best level at which a keyword's word with this term can agree with the query:
// Identical if the term is a query word's own, otherwise Synonym or, if it has only corrections, Misspelt.
func (t *QueryTerm) Cap() Level {
	best := Misspelt
	for _, s := range t.Senses {
		switch {
		case s.Synonym == 0:
			return Identical
		case !s.Misspelt:
			best = Synonym
		}
	}
	return best
}

// Query is a query expanded for all languages. Slaves match against it.
type Query struct {
	// Text is the query as given: for logs and explanations only.
	Text string
	// Words are the query's words that are used (Units), in order: each unit of a run is one.
	Words []Word
	// Runs are the sequences of several words that a keyword may have as one: of units of scripts without spaces.
	Runs []Run
	// Terms are distinct: the terms of each word and each run in each language, and those of its synonyms and
	// corrections if the reach allows them.
	Terms []QueryTerm
	// Vocabulary is the version of the vocabulary by which words were corrected, or "" if none was.
	Vocabulary string
	// Truncated means that the text had more words than are used.
	Truncated bool
}
