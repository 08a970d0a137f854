package node

import (
	"context"
	"time"

	"adshard/backend"
)

// healthTime bounds a look at the database for readiness.
const healthTime = time.Second

// unhealthy returns why a database cannot be used.
func unhealthy(db backend.Store) []string {
	ctx, cancel := context.WithTimeout(context.Background(), healthTime)
	defer cancel()
	if err := db.Health(ctx); err != nil {
		return []string{err.Error()}
	}
	return nil
}
