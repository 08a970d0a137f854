package health

import (
	"context"
	"time"

	"adshard/backend"
)

// databaseTime bounds the check of a database.
const databaseTime = time.Second

// Database returns why a database cannot be used, or nil if it can.
func Database(db backend.Store) error {
	ctx, cancel := context.WithTimeout(context.Background(), databaseTime)
	defer cancel()
	return db.Health(ctx)
}
