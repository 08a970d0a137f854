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

// ModelKey is appended to the cluster's state key. The value under the resulting key is the
// cluster's order (one byte) and its slices.
const ModelKey = "/model"

// OrderKey is appended to the state key for the order of a cluster whose slices are not kept in the
// database.
const OrderKey = "/order"

// OrderOf returns the order of keys of the cluster that keeps its state under a key of the
// database. That is the order of its slices. A new cluster has the configured order, or `fresh` if
// `configured` is "". Errors: fault.Conflict if the configured order is not that of the slices.
func OrderOf(ctx context.Context, db backend.Store, stateKey, configured string, fresh balance.Order) (balance.Order, error) {
	order := fresh
	if configured != "" {
		var ok bool
		if order, ok = balance.ParseOrder(configured); !ok {
			return 0, fault.Field("configure", "order", "%q is not an order; orders are %s", configured, strings.Join(balance.Orders(), ", "))
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
