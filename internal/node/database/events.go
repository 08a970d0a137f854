package database

import (
	"context"

	"adshard/events/store"
	"adshard/events/store/postgres"
	"adshard/events/store/sqlite"
)

// OpenEvents opens the database of events named by url: sqlite:PATH or postgres://…; it makes
// the file, or the tables, when there are none. Errors: as Open's, and the store's.
func OpenEvents(ctx context.Context, url string) (store.Store, error) {
	if IsServer(url) {
		s, err := postgres.Open(ctx, url)
		if err != nil {
			return nil, err
		}
		return s, nil
	}
	path, err := file(url)
	if err != nil {
		return nil, err
	}
	s, err := sqlite.Open(ctx, path)
	if err != nil {
		return nil, err
	}
	return s, nil
}
