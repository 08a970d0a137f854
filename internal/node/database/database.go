// Package database opens the backend database that a configuration names.
package database

import (
	"context"
	"strings"

	"adshard/backend"
	"adshard/backend/sqlite"
	"adshard/fault"
)

// Open opens the backend database named by url: sqlite:PATH; create makes
// the file when there is none. Errors: fault.Invalid for another kind of
// database, those of the backend.
func Open(ctx context.Context, url string, create bool) (backend.Store, error) {
	kind, path, ok := strings.Cut(url, ":")
	if !ok || kind != "sqlite" || path == "" {
		return nil, fault.Field("open database", "db", "%q is no database this program knows; give sqlite:PATH", url)
	}
	return sqlite.Open(ctx, path, sqlite.Options{Create: create})
}

// OpenScratch opens a copy of a database, to try changes out; the database
// stays as it is, and need not exist yet. Closing the copy removes it.
// Errors: those of OpenDB.
func OpenScratch(ctx context.Context, url string) (backend.Store, error) {
	kind, path, ok := strings.Cut(url, ":")
	if !ok || kind != "sqlite" || path == "" {
		return nil, fault.Field("open database", "db", "%q is no database this program knows; give sqlite:PATH", url)
	}
	return sqlite.OpenScratch(ctx, path, sqlite.Options{})
}
