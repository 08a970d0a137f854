package layouts

// Rarest returns the word of keyword i that is in the fewest keywords, as an index into
// Words. It returns the first of equally rare words.
func (s *Set) Rarest(i int) uint32 {
	of := s.Of(i)
	best := of[0]
	for _, w := range of[1:] {
		if s.Counts[w] < s.Counts[best] {
			best = w
		}
	}
	return best
}
