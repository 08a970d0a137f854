package node

import (
	"context"
	"crypto/rand"
	"fmt"

	"adshard/backend"
	"adshard/balance"
	"adshard/fault"
)

// databaseKey is under which a database keeps the name that it gave itself.
const databaseKey = "database"

// originOf names what the keys of a database's groups stand for: the database,
// which gets a random name the first time, and the order of keys. A copy of a
// database has the same name.
func originOf(ctx context.Context, db backend.Store, order balance.Order) (string, error) {
	name, err := db.LoadControl(ctx, databaseKey)
	if err == nil && name == nil {
		name = []byte(rand.Text())
		if err = db.SaveControlIf(ctx, databaseKey, name, databaseKey, nil); fault.Is(err, fault.Conflict) {
			name, err = db.LoadControl(ctx, databaseKey) // another program was faster
		}
	}
	if err != nil {
		return "", fmt.Errorf("the name of the database: %w", err)
	}
	return string(name) + "/" + order.String(), nil
}
