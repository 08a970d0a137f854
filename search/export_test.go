package search

// ExpansionBytes returns what e counts of its bytes, and what it keeps.
func ExpansionBytes(e *Expansions) (counted, kept int64) {
	for i := range e.slots {
		if d := e.slots[i].Load(); d != nil {
			kept += d.bytes
		}
	}
	return e.bytes.Load(), kept
}
