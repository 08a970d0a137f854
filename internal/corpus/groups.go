package corpus

import (
	"context"
	"iter"
)

// Group is an ad group of a corpus.
type Group struct {
	Advertiser, Campaign, Name string
	// Bid is the bid, in cents, of keywords without a bid of their own.
	Bid      int
	Keywords []Keyword
}

// Keyword is a keyword of a group. Its match type has the name that Editor uses.
type Keyword struct {
	Text, Match string
	// Bid is the keyword's own bid in cents. If it is 0, the group's applies.
	Bid int
	// Quality is 1 to 10. If it is 0, the default applies.
	Quality int
}

// Groups yields the ad groups that Write writes with the same options, in the same order and with the same keywords.
// The memory needed does not depend on their number: a group is valid until the next one is yielded. An error ends
// the sequence.
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
