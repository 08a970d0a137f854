package fanout

import (
	"context"

	"adshard/search"
)

// Local is a slave in this process (shardserver.Local).
type Local interface {
	Answering
	Seed
}

// Within returns a Dialer that reaches the slaves of this process directly, and others by `dial`.
// `slaves` returns the slave that listens at an address, or nil if it is not in this process.
func Within(slaves func(address string) Local, dial Dialer) Dialer {
	return func(t Target) (Slave, func() error, error) {
		s := slaves(t.Address)
		if s == nil {
			return dial(t)
		}
		return Concurrent(&within{target: t, slave: s}), func() error { return nil }, nil
	}
}

// within is the slave of a shard in this process. As with Client, each request names the shard, and
// the answer of another shard is refused.
type within struct {
	target Target
	slave  Local
}

// Search implements search.Searcher.
func (w *within) Search(ctx context.Context, r *search.Request) (*search.Answer, error) {
	own := *r
	own.Shard = w.target.ID
	a, err := w.slave.Search(ctx, &own)
	if err != nil {
		return nil, err
	}
	if err := owned(&w.target, a.Shard); err != nil {
		return nil, err
	}
	return a, nil
}

// Explain implements search.Explainer.
func (w *within) Explain(ctx context.Context, r *search.Request, limit int) (*search.Explanation, error) {
	own := *r
	own.Shard = w.target.ID
	e, err := w.slave.Explain(ctx, &own, limit)
	if err != nil {
		return nil, err
	}
	if err := owned(&w.target, e.Shard); err != nil {
		return nil, err
	}
	for i := range e.Matches {
		e.Matches[i].Shard = w.target.Shard
	}
	return e, nil
}
