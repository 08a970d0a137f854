package search

// Signature is a set of terms in 64 bits: a Bloom filter with two bits a term (Bloom 1970). A
// keyword can match a query only if each of its words has one of the query's terms, and so only if
// its signature is within the query's signature. With a query of four terms, a foreign word passes
// in one case of 64.
type Signature uint64

// SignatureOf returns the signature of one term. Terms are hashes, so any of their bits will do.
func SignatureOf(term uint64) Signature {
	return 1<<(term>>58) | 1<<(term>>52&63)
}

// Within reports whether t contains all bits of s.
func (s Signature) Within(t Signature) bool { return s&^t == 0 }
