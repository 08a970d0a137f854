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

// OpenEventReader opens the database of events named by url for reading alone. It makes and changes nothing. Errors:
// fault.NotFound if there are no events, those of Open and of the store.
func OpenEventReader(ctx context.Context, url string) (store.Reader, error) {
	if IsServer(url) {
		return postgres.OpenReader(ctx, url)
	}
	path, err := file(url)
	if err != nil {
		return nil, err
	}
	return sqlite.OpenReader(ctx, path)
}
