package balance

// Topic is a term with the items that queries for it examine, and what each costs a
// second: where most of them lie, such queries have a slow slave.
type Topic struct {
	Term  uint64
	Items []TopicItem // by rising key
}

// TopicItem is an item with what it costs under a term.
type TopicItem struct {
	Key  Key
	Load float64
}
