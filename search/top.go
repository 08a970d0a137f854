package search

// Top keeps the best hits: of each owner the one with the
// highest score, or the first few, equal scores by the lowest keyword id, and of those the first
// k in the same order. It allocates only when k grows. For small k (tens).
//
// Offers may come in any order and repeat a keyword with another score; what
// remains is the same. A hit that has fallen out comes back only with a
// better offer, since what is needed to stay never falls.
type Top[T any] struct {
	k, each int
	ranked  []Ranked[T]
}

// Ranked is one of an owner's best hits.
type Ranked[T any] struct {
	Owner, Score, Keyword uint64
	Value                 T
}

// Reset empties it for the best k of distinct owners, k ≥ 1.
func (t *Top[T]) Reset(k int) { t.ResetEach(k, 1) }

// ResetEach empties it for the best k, of which at most each are of one owner, k and each ≥ 1.
func (t *Top[T]) ResetEach(k, each int) {
	t.k, t.each = max(k, 1), max(each, 1)
	clear(t.ranked)
	t.ranked = t.ranked[:0]
}

// Threshold is the score below which no offer can enter: that of the k-th best,
// 0 while there are fewer. An offer with an equal score may enter, by a
// lower keyword id: prune only what is certainly below.
func (t *Top[T]) Threshold() uint64 {
	if len(t.ranked) < t.k || t.k == 0 {
		return 0
	}
	return t.ranked[t.k-1].Score
}

// Wants reports whether an offer would be kept now, so that costly checks of other
// offers can be left out.
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

// Offer takes a hit; it reports whether the hit is kept for now.
func (t *Top[T]) Offer(owner, score, keyword uint64, value T) bool {
	if !t.Wants(owner, score, keyword) {
		return false
	}
	i := t.find(owner, keyword)
	switch {
	case i >= 0: // its old place is the one to be filled
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

// Ranked returns the hits kept, best first; valid until the next call of Offer
// or Reset.
func (t *Top[T]) Ranked() []Ranked[T] { return t.ranked }

// find returns the hit whose place an offer would take: that of the same keyword, or the worst of an owner that has as many as
// it may; −1: neither is there.
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

// before reports whether a hit stands before another: score descending, then
// keyword id ascending.
func before[T any](score, keyword uint64, r *Ranked[T]) bool {
	if score != r.Score {
		return score > r.Score
	}
	return keyword < r.Keyword
}
