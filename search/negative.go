package search

// BlockedBy reports whether a negative keyword of type t with the given hashes of normalised words,
// in order, blocks the query. Negatives agree at Identical only, whatever the profile (serving.md
// §3): a broad one blocks if all its words are in the query, a phrase if they also stand there in
// order and next to each other, an exact one if the query has exactly its words in order.
func (q *Query) BlockedBy(t MatchType, norm []uint64) bool {
	words := q.Words[:min(len(q.Words), MaxQueryWords)]
	if len(norm) == 0 || len(norm) > len(words) && t != Broad {
		return false
	}
	switch t {
	case Exact:
		return len(norm) == len(words) && startsWith(words, norm)
	case Phrase:
		for i := 0; i+len(norm) <= len(words); i++ {
			if startsWith(words[i:], norm) {
				return true
			}
		}
		return false
	case Broad:
		for _, n := range norm {
			if !holds(words, n) {
				return false
			}
		}
		return true
	}
	return false
}

func startsWith(words []Word, norm []uint64) bool {
	for i, n := range norm {
		if words[i].Norm != n {
			return false
		}
	}
	return true
}

func holds(words []Word, norm uint64) bool {
	for i := range words {
		if words[i].Norm == norm {
			return true
		}
	}
	return false
}
