package node

import (
	"context"
	"fmt"

	"adshard/backend"
	"adshard/balance"
)

// originOf names what the keys of a database's groups stand for: the database,
// by its id, and the order of keys. A copy of a database has the same id.
func originOf(ctx context.Context, db backend.Store, order balance.Order) (string, error) {
	id, err := db.ID(ctx)
	if err != nil {
		return "", fmt.Errorf("the id of the database: %w", err)
	}
	return id + "/" + order.String(), nil
}
