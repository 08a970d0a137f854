package identity

import (
	"context"
	"fmt"
	"strings"

	"adshard/backend"
	"adshard/balance"
	"adshard/fault"
)

// DefaultOrder is the order of keys of a new cluster.
const DefaultOrder = balance.ByHash

// DefaultStateKey is the key under which a balancer keeps its state in the database.
const DefaultStateKey = "balancer"

// ModelKey is the key, below the cluster's state key, of its order (one byte) and its
// slices.
const ModelKey = "/model"

// OrderKey is the key of the order of a cluster whose slices are not in the database.
const OrderKey = "/order"

// OrderOf returns the order of keys of the cluster that keeps its state under a key of
// the database: the order of its slices or, in a new cluster, the one configured, or
// fresh if that is "". Errors: fault.Conflict when another one is configured than that
// of the slices.
func OrderOf(ctx context.Context, db backend.Store, stateKey, configured string, fresh balance.Order) (balance.Order, error) {
	order := fresh
	if configured != "" {
		var ok bool
		if order, ok = balance.ParseOrder(configured); !ok {
			return 0, fault.Field("configure", "order", "%q is no order; orders are %s", configured, strings.Join(balance.Orders(), ", "))
		}
	}
	b, err := db.LoadControl(ctx, stateKey+OrderKey)
	if err == nil && len(b) == 0 {
		b, err = db.LoadControl(ctx, stateKey+ModelKey)
	}
	if err != nil {
		return 0, fmt.Errorf("load the order of the cluster's slices: %w", err)
	}
	if len(b) == 0 {
		return order, nil
	}
	stored := balance.Order(b[0])
	if stored.String() == "" {
		return 0, fault.Newf(fault.Version, "configure", "the slices of this cluster are in the order %d, which this version does not know", b[0])
	}
	if configured != "" && stored != order {
		return 0, fault.Newf(fault.Conflict, "configure",
			"the slices of this cluster are in the order %s, which stays; start without --order, or with --order %s instead of %s",
			stored, stored, order)
	}
	return stored, nil
}
