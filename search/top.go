package search

// Top keeps the best k hits, at most one or a few of each owner. Hits are ordered by score descending, then keyword id
// ascending. It allocates only when k grows, and is meant for small k (tens).
//
// Offers may come in any order and repeat a keyword with another score; the result is the same. A hit that was dropped can
// return only with a better offer, since the score needed to stay never falls.
type Top[T any] struct {
	k, each int
	ranked  []Ranked[T]
}

// Ranked is one of an owner's best hits.
type Ranked[T any] struct {
	Owner, Score, Keyword uint64
	Value                 T
}

// Reset empties t for the best k hits of distinct owners; k is at least 1.
func (t *Top[T]) Reset(k int) { t.ResetEach(k, 1) }

// ResetEach empties t for the best k hits, at most `each` of them of one owner; k and `each` are at least 1.
func (t *Top[T]) ResetEach(k, each int) {
	t.k, t.each = max(k, 1), max(each, 1)
	clear(t.ranked)
	t.ranked = t.ranked[:0]
}

// Threshold returns the score below which no offer can enter: that of the k-th best hit, or 0 while there are fewer. An offer
// with an equal score may enter by a lower keyword id, so prune only offers that are certainly below.
func (t *Top[T]) Threshold() uint64 {
	if len(t.ranked) < t.k || t.k == 0 {
		return 0
	}
	return t.ranked[t.k-1].Score
}

// Wants reports whether an offer would be kept now, so that costly checks of other offers can be skipped.
func (t *Top[T]) Wants(owner, score, keyword uint64) bool {
	if score < t.Threshold() {
		return false
	}
	if i := t.find(owner, keyword); i >= 0 {
		return before(score, keyword, &t.ranked[i])
	}
	return len(t.ranked) < t.k || before(score, keyword, &t.ranked[t.k-1])
}

// Lost reports whether an offer of any owner with this score and keyword, or a worse one, would be
// dropped now.
func (t *Top[T]) Lost(score, keyword uint64) bool {
	return len(t.ranked) >= t.k && !before(score, keyword, &t.ranked[t.k-1])
}

// Offer adds a hit if it is among the best. It reports whether the hit is kept for now.
func (t *Top[T]) Offer(owner, score, keyword uint64, value T) bool {
	if !t.Wants(owner, score, keyword) {
		return false
	}
	i := t.find(owner, keyword)
	switch {
	case i >= 0: // the offer takes the place of that hit
	case len(t.ranked) < t.k:
		i = len(t.ranked)
		t.ranked = append(t.ranked, Ranked[T]{})
	default:
		i = t.k - 1
	}
	for ; i > 0 && before(score, keyword, &t.ranked[i-1]); i-- {
		t.ranked[i] = t.ranked[i-1]
	}
	t.ranked[i] = Ranked[T]{Owner: owner, Score: score, Keyword: keyword, Value: value}
	return true
}

// Ranked returns the hits kept, best first. They are valid until the next call of Offer or Reset.
func (t *Top[T]) Ranked() []Ranked[T] { return t.ranked }

// find returns the index of the hit that an offer would replace: that of the same keyword, or the worst one of an owner that
// has as many as it may. It returns −1 if there is neither.
func (t *Top[T]) find(owner, keyword uint64) int {
	n := 0
	for i := range t.ranked {
		if t.ranked[i].Owner == owner {
			if n++; n == t.each || t.ranked[i].Keyword == keyword {
				return i
			}
		}
	}
	return -1
}

// before reports whether a hit comes before another: score descending, then keyword id ascending.
func before[T any](score, keyword uint64, r *Ranked[T]) bool {
	if score != r.Score {
		return score > r.Score
	}
	return keyword < r.Keyword
}
