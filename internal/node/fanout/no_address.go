package fanout

import (
	"context"

	"adshard/fault"
	"adshard/internal/node/wire"
	"adshard/search"
)

// noAddress stands for the slave of a shard without an address.
type noAddress struct{ name string }

func (n noAddress) err() error {
	return fault.Newf(fault.Unavailable, "master: search", "the shard %s has no address yet: its slave has not joined", n.name)
}

// Ask implements Slave.
func (n noAddress) Ask(_ context.Context, _ *wire.Shared, done Done) Pending {
	done(nil, n.err())
	return nil
}

// Explain implements search.Explainer.
func (n noAddress) Explain(context.Context, *search.Request, int) (*search.Explanation, error) {
	return nil, n.err()
}
