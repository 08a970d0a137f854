package search

import "slices"

// BlockedBy reports whether a negative keyword of type t with the given hashes of normalised words,
// in order, blocks the query. Negatives agree at Identical only, whatever the profile (serving.md
// §3): a broad one blocks if all its words are in the query, a phrase if they also stand there in
// order and next to each other, an exact one if the query has exactly its words in order.
func (q *Query) BlockedBy(t MatchType, norm []uint64) bool {
	words := q.Words[:min(len(q.Words), MaxQueryUnits)]
	if len(norm) == 0 || len(norm) > len(words) && t != Broad {
		return false
	}
	switch t {
	case Exact:
		return q.end(0, norm) == len(words)
	case Phrase:
		for i := 0; i+len(norm) <= len(words); i++ {
			if q.end(i, norm) >= 0 {
				return true
			}
		}
		return false
	case Broad:
		for _, n := range norm {
			if !holds(words, n) && !q.holdsRun(n) {
				return false
			}
		}
		return true
	}
	return false
}

// end returns the position after the given words if they stand in the query one after the other
// from position i, or −1.
func (q *Query) end(i int, norm []uint64) int {
	for _, n := range norm {
		if i < len(q.Words) && q.Words[i].Norm == n {
			i++
			continue
		}
		r := slices.IndexFunc(q.Runs, func(r Run) bool { return r.Norm == n && int(r.Word) == i })
		if r < 0 {
			return -1
		}
		i += 1 + int(q.Runs[r].More)
	}
	return i
}

// holdsRun reports whether the query has a run of several words with the given hash.
func (q *Query) holdsRun(norm uint64) bool {
	return slices.ContainsFunc(q.Runs, func(r Run) bool { return r.Norm == norm })
}

func holds(words []Word, norm uint64) bool {
	for i := range words {
		if words[i].Norm == norm {
			return true
		}
	}
	return false
}
