package feed

import (
	"context"

	"adshard/backend"
	"adshard/balance"
	"adshard/fault"
)

// ReadItems puts all items of a snapshot into `index` and returns the snapshot's position.
func ReadItems(ctx context.Context, db backend.Feed, order balance.Order, w Weights, index *balance.Index) (backend.Position, error) {
	snap, err := db.Snapshot(ctx)
	if err != nil {
		return backend.Position{}, err
	}
	defer snap.Close()
	for g, err := range snap.Groups(ctx) {
		if err != nil {
			return backend.Position{}, err
		}
		key, err := order.Key(g.AdvertiserID, g.ID)
		if err != nil {
			return backend.Position{}, fault.New(fault.Invalid, "balancer: load", err)
		}
		index.Put(key, w.Of(g.Keywords, g.Ads, g.Lexicon))
	}
	return snap.Position(), nil
}
