package search

// MaxQueryWords is the number of words of a query that are used; words after them are ignored
// (serving.md §1.5).
const MaxQueryWords = 32

// Word is a word of a query or keyword, as hashes (words.Hash).
type Word struct {
	Norm uint64 // of the normalised word
	Fold uint64 // of the folded form
}

// Sense is one way in which a term came from a word of the query.
type Sense struct {
	// Word is the index of the query's word, below MaxQueryWords.
	Word uint8
	// Synonym is the hash of the folded form that a keyword's word must have to agree as a synonym,
	// or 0 if the term is that of the word's own stem.
	Synonym uint64
}

// QueryTerm is a term that may be the anchor of matching keywords.
type QueryTerm struct {
	Term   uint64 // words.Term
	Senses []Sense
}

// Cap returns the best level at which a keyword's word with this term can agree with the query:
// Identical if the term is a query word's own, otherwise Synonym.
func (t *QueryTerm) Cap() Level {
	for _, s := range t.Senses {
		if s.Synonym == 0 {
			return Identical
		}
	}
	return Synonym
}

// Query is a query expanded for all languages. Slaves match against it.
type Query struct {
	// Text is the query as given: for logs and explanations only.
	Text string
	// Words are the query's first MaxQueryWords words, in order.
	Words []Word
	// Terms are distinct: the terms of each word in each language, and those of its synonyms if the
	// reach allows them.
	Terms []QueryTerm
	// Truncated means that the text had more than MaxQueryWords words.
	Truncated bool
}
