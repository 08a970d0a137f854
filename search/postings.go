package search

import "context"

// Postings is what a search reads from: blocks of keywords by anchor term, in
// one snapshot.
type Postings interface {
	// Find looks up a query's terms, all of them at once so that memory is waited
	// for once and not term by term. It appends to known the indexes of those that
	// some keyword may have in a word, in rising order.
	Find(terms []QueryTerm, known []int32) []int32
	// Blocks calls visit for the blocks anchored at some of the terms last looked
	// up, given by their indexes, in any order. It may leave out blocks of which it
	// knows that no posting that agrees at level best, or worse, can change the
	// answer. A damaged block is counted and passed over, not an error. It ends with
	// fault.Deadline or fault.Cancelled when ctx is over.
	Blocks(ctx context.Context, terms []int32, best Level, visit Visit) error
}

// Visit takes a block. With later it has been found good in all its parts and
// stays as it is until the search ends, so that what the search may find in it
// can wait until memory is asked for several blocks at once; else the block is
// valid only during the call, and decided on before it returns.
type Visit func(b Block, later bool)

// Block is up to some hundred keywords anchored at one term, read in place.
//
// Its postings are gathered in classes: those with the same words in the same
// order and the same match type agree alike with every query, so that each class
// is held against the query once. A block may as well make a class of each
// posting. It has a vocabulary of its own, so that each of its words is held
// against the query at most once, not once a class.
type Block interface {
	// Len is the number of postings.
	Len() int
	// Signatures returns for each class the union of the Signatures of its words'
	// terms. Most classes are turned away by it.
	Signatures() []Signature
	// Class returns the i-th class's match type and the vocabulary indexes of its
	// words in order, as little-endian uint16 pairs of bytes.
	Class(i int) (t MatchType, words []byte)
	// Norms returns the i-th class's match type and the hashes of its normalised
	// words, in order; nil where they are not at hand.
	Norms(i int) (t MatchType, norms []uint64)
	// Words is the number of words in the vocabulary.
	Words() int
	// Word returns the i-th word's hashes and its term in the block's language.
	Word(i int) (norm, fold, term uint64)
}

// Candidate is a class of a block that the scan holds against the query.
type Candidate struct {
	Block Block
	Class int32
	// Level at which the class matches, once that is known.
	Level Level
}

// Sink takes what a scan finds. It knows eligibility and scores, the scan does
// not.
type Sink interface {
	// Pass tells whether no posting of b can still change the answer, given
	// that none agrees better than at level best.
	Pass(b Block, best Level) bool
	// Sift returns those of the candidates that may still change the answer, given
	// that none agrees better than at level best; the list is the sink's to change.
	// It saves holding the others against the query.
	Sift(list []Candidate, best Level) []Candidate
	// Match takes classes that match, each at its Level.
	Match(list []Candidate)
}
