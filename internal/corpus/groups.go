package corpus

import (
	"context"
	"iter"
)

// Group is an ad group of a corpus.
type Group struct {
	Advertiser, Campaign, Name string
	// Bid is the bid of keywords without one of their own, in cents.
	Bid      int
	Keywords []Keyword
}

// Keyword is a keyword of a group. Its match type is named as Editor names it.
type Keyword struct {
	Text, Match string
	// Bid is its own bid in cents; 0: the group's counts.
	Bid int
	// Quality is 1 to 10; 0: none is given, the default counts.
	Quality int
}

// Groups are the ad groups that Write writes with the same options, in the same
// order and with the same keywords, without a file: as many keywords as asked
// for, in memory that does not grow with them. A group is of use until the next
// one; after an error there is none.
func (c *Corpus) Groups(ctx context.Context, o Options) iter.Seq2[*Group, error] {
	return func(yield func(*Group, error) bool) {
		if err := o.check(); err != nil {
			yield(nil, err)
			return
		}
		m := c.newGroupMaker(o, &sheet{})
		err := c.make(ctx, m, o, &Summary{}, func() bool { return yield(&m.made, nil) })
		if err != nil {
			yield(nil, err)
		}
	}
}
