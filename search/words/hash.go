package words

import "github.com/cespare/xxhash/v2"

// Hash returns the hash of a normalised word or folded form. It is never 0.
func Hash(word string) uint64 {
	return nonZero(xxhash.Sum64String(word))
}

// HashBytes is Hash for a word's bytes.
func HashBytes(word []byte) uint64 { return nonZero(xxhash.Sum64(word)) }

// Term returns the hash of a stem in a language. It is never 0. Language "" has no stemmer: there
// the stem is the folded form itself.
func Term(language, stem string) uint64 {
	var room [64]byte
	b := append(room[:0], language...)
	b = append(b, 0)
	b = append(b, stem...)
	return nonZero(xxhash.Sum64(b))
}

// TermBytes is Term for a stem's bytes.
func TermBytes(language string, stem []byte) uint64 {
	var room [64]byte
	b := append(room[:0], language...)
	b = append(b, 0)
	b = append(b, stem...)
	return nonZero(xxhash.Sum64(b))
}

func nonZero(h uint64) uint64 {
	if h == 0 {
		return 1
	}
	return h
}
