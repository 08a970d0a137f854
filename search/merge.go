package search

// Merge merges the answers of disjoint parts, each of which has the best k hits of its part, one
// per advertiser. The result has the k hits that a search over all parts would find (serving.md
// §5). Counts, widths and work are summed; AppliedClock is the lowest and Lag the longest; counts
// are exact if all are. Nil answers are skipped; the caller lists the missing parts.
func Merge(answers []*Answer, k int) *Answer {
	sum := &Answer{CountsExact: true}
	var top Top[*Hit]
	top.Reset(k)
	first := true
	for _, a := range answers {
		if a == nil {
			continue
		}
		sum.add(a, first)
		first = false
		for i := range a.Hits {
			h := &a.Hits[i]
			top.Offer(h.Advertiser, h.Score, h.Keyword, h)
		}
	}
	sum.CountsExact = sum.CountsExact && !first
	sum.Hits = make([]Hit, 0, len(top.Ranked()))
	for _, r := range top.Ranked() {
		sum.Hits = append(sum.Hits, *r.Value)
	}
	return sum
}

func (s *Answer) add(a *Answer, first bool) {
	s.Matched += a.Matched
	s.Candidates += a.Candidates
	s.CountsExact = s.CountsExact && a.CountsExact
	s.Width = s.Width.Add(a.Width)
	s.View = max(s.View, a.View)
	if first || a.AppliedClock < s.AppliedClock {
		s.AppliedClock = a.AppliedClock
	}
	s.Lag = max(s.Lag, a.Lag)
	s.Work.Add(a.Work)
	s.Missing = append(s.Missing, a.Missing...)
	s.Shards += a.Shards
	s.Answered += a.Answered
}
