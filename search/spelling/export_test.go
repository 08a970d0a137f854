package spelling

// NewCounter returns a Counter of at most `most` words.
func NewCounter(most int) *Counter { return &Counter{most: most} }
