package spelling

// NewCounter returns a Counter of at most `most` words.
func NewCounter(most int) *Counter { return &Counter{most: most} }

// Work returns how many entries of the index are read to correct a word.
func (v *Vocabulary) Work(word string) (n int) {
	for _, key := range appendRests(nil, word, Edits(word)) {
		n += len(v.index.list(key))
	}
	return n
}
