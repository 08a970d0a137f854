package node

import (
	"context"
	"crypto/rand"
	"fmt"

	"adshard/backend"
	"adshard/balance"
)

// databaseKey is under which a database keeps the name that it gave itself.
const databaseKey = "database"

// originOf names what the keys of a database's groups stand for: the database,
// which gets a random name the first time, and the order of keys. A copy of a
// database has the same name.
func originOf(ctx context.Context, db backend.Store, order balance.Order) (string, error) {
	name, err := db.LoadControl(ctx, databaseKey)
	if err == nil && len(name) == 0 {
		if err = db.SaveControl(ctx, databaseKey, []byte(rand.Text())); err == nil {
			name, err = db.LoadControl(ctx, databaseKey) // another program's, if it was later
		}
	}
	if err != nil {
		return "", fmt.Errorf("the name of the database: %w", err)
	}
	return string(name) + "/" + order.String(), nil
}
