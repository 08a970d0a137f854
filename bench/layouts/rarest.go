package layouts

// Rarest is the word of keyword i, as an index into Words, that is in the fewest keywords; of
// several the first.
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
