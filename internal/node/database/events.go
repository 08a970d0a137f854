package database

import (
	"context"

	"adshard/events/store"
	"adshard/events/store/postgres"
	"adshard/events/store/sqlite"
	"adshard/internal/node/config"
)

// CheckEvents checks the URL of the database of events that belongs to a backend database. It opens nothing, and accepts "".
func CheckEvents(k *config.Check, url, db string) {
	if url == "" {
		return
	}
	_, err := file(url)
	k.That(IsServer(url) || err == nil, "events", "this is not a database URL; give sqlite:PATH or postgres://USER@HOST/DATABASE") // the text may have a password
	k.That(url != db || IsServer(db), "events", "must be a different file than db's: name another one")
}

// OpenEvents opens the database of events at a URL, sqlite:PATH or postgres://…. It makes the file, or the tables, if there are
// none. Errors: those of Open and of the store.
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
	if err := free(path, true); err != nil {
		return nil, err
	}
	s, err := sqlite.Open(ctx, path)
	if err != nil {
		return nil, err
	}
	return s, nil
}

// OpenEventReader opens the database of events at a URL read-only. Errors: fault.NotFound if there are no events, those of Open
// and of the store.
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
