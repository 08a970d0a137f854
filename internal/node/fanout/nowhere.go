package fanout

import (
	"context"

	"adshard/fault"
	"adshard/search"
)

// nowhere is the slave of a shard whose address is not known.
type nowhere struct{ name string }

func (n nowhere) err() error {
	return fault.Newf(fault.Unavailable, "master: search", "the shard %s has no address yet: its slave has not joined", n.name)
}

func (n nowhere) Search(context.Context, *search.Request) (*search.Answer, error) {
	return nil, n.err()
}

func (n nowhere) Explain(context.Context, *search.Request, int) (*search.Explanation, error) {
	return nil, n.err()
}
