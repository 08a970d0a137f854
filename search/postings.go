package search

import "context"

// Postings is what a search reads from: blocks of keywords by anchor term, in
// one snapshot.
type Postings interface {
	// Known tells whether any keyword may have a word with this term; false: none
	// has.
	Known(term uint64) bool
	// Blocks calls visit for the blocks anchored at term, in any order. It may leave out blocks of which it knows that no
	// posting that agrees at level best, or worse, can change the answer. A Block
	// is valid only during the call. A damaged block is counted and passed over,
	// not an error. It ends with fault.Deadline or fault.Cancelled when ctx is
	// over.
	Blocks(ctx context.Context, term uint64, best Level, visit func(Block)) error
}

// Block is up to some hundred keywords anchored at one term, read in place.
// It has a vocabulary of its own, so that each of its words is held against
// the query at most once, not once a keyword.
type Block interface {
	// Signatures returns for each posting the union of the Signatures of its
	// words' terms. Most postings are turned away by it.
	Signatures() []Signature
	// Words is the number of words in the vocabulary.
	Words() int
	// Word returns the i-th word's hashes and its term in the block's language.
	Word(i int) (norm, fold, term uint64)
	// Posting returns the i-th posting's match type and the vocabulary indexes
	// of its words in order, as little-endian uint16 pairs of bytes.
	Posting(i int) (t MatchType, words []byte)
}

// Sink takes what a scan finds. It knows eligibility and scores, the scan does
// not.
type Sink interface {
	// Pass tells whether no posting of b can still change the answer, given
	// that none agrees better than at level best.
	Pass(b Block, best Level) bool
	// Match takes posting i of b, which matches at level.
	Match(b Block, i int, level Level)
}
