package fanout

import (
	"context"

	"adshard/fault"
	"adshard/search"
)

// noAddress is the slave of a shard without an address.
type noAddress struct{ name string }

func (n noAddress) err() error {
	return fault.Newf(fault.Unavailable, "master: search", "the shard %s has no address yet: its slave has not joined", n.name)
}

func (n noAddress) Search(context.Context, *search.Request) (*search.Answer, error) {
	return nil, n.err()
}

func (n noAddress) Explain(context.Context, *search.Request, int) (*search.Explanation, error) {
	return nil, n.err()
}
