package node

import (
	"context"

	"adshard/backend"
	"adshard/balance"
	"adshard/fault"
)

// readItems puts all items of a snapshot into index and returns its position.
func readItems(ctx context.Context, db backend.Feed, order balance.Order, w WeightsConfig, index *balance.Index) (backend.Position, error) {
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
		index.Put(key, w.weight(g.Keywords, g.Ads, g.Lexicon))
	}
	return snap.Position(), nil
}
