package search

// ExpansionBytes returns the size that e has counted and the size of what it keeps.
func ExpansionBytes(e *Expansions) (counted, kept int64) {
	for i := range e.slots {
		if d := e.slots[i].Load(); d != nil {
			kept += d.bytes
		}
	}
	return e.bytes.Load(), kept
}

// WordSlots is the number of slots of the cache of words' terms.
const WordSlots = wordSlots
