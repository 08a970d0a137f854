package index

// Frequencies returns the document frequencies by which anchors are chosen.
type Frequencies interface {
	// Frequency returns the number of keyword forms that have a term.
	Frequency(term uint64) uint32
}

// Rarest returns the anchor of a form with the given terms, at least one: the term with the lowest
// document frequency, or the lowest of several such terms.
func Rarest(f Frequencies, terms []uint64) uint64 {
	best := terms[0]
	if len(terms) == 1 {
		return best
	}
	least := f.Frequency(best)
	for _, t := range terms[1:] {
		n := f.Frequency(t)
		if n < least || n == least && t < best {
			best, least = t, n
		}
	}
	return best
}

// Frequency implements Frequencies.
func (t *Dictionary) Frequency(term uint64) uint32 { return t.Stats(term).Frequency }
