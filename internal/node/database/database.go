// Package database opens the backend database that a configuration names.
package database

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"adshard/backend"
	"adshard/backend/postgres"
	"adshard/backend/sqlite"
	"adshard/backend/transfer"
	"adshard/fault"
	"adshard/internal/outfile"
)

const opOpen = "open database"

// IsServer reports whether a URL names a database on a PostgreSQL server, not in a file.
func IsServer(url string) bool {
	return strings.HasPrefix(url, "postgres://") || strings.HasPrefix(url, "postgresql://")
}

// Open opens the backend database at a URL, sqlite:PATH or postgres://…. With `create` it makes the file, or the
// schema in the database, if there is none. Errors: fault.Invalid for another kind of database, those of the
// backend.
func Open(ctx context.Context, url string, create bool) (backend.Store, error) {
	return open(ctx, url, create, backend.Making{}, nil)
}

// OpenTelling opens a database as Open does. While it rebuilds the keys of keywords, it calls `tell` with lines
// for people: its progress, from time to time, and what was removed.
func OpenTelling(ctx context.Context, url string, tell func(string)) (backend.Store, error) {
	return open(ctx, url, false, backend.Making{}, tell)
}

// Make opens a database as OpenTelling does, and makes it if there is none. A new database is marked with m until
// it is finished, so that no other program opens it before.
func Make(ctx context.Context, url string, m backend.Making, tell func(string)) (backend.Store, error) {
	return open(ctx, url, true, m, tell)
}

func open(ctx context.Context, url string, create bool, m backend.Making, tell func(string)) (s backend.Store, err error) {
	if tell == nil {
		tell = func(string) {}
	}
	defer func() {
		if text := removed(s); text != "" {
			tell(text)
		}
	}()
	rekeying := tellRekeying(tell, time.Now)
	if IsServer(url) {
		return opened(postgres.Open(ctx, url, postgres.Options{Create: create, Making: m, Rekeying: rekeying}))
	}
	path, err := file(url)
	if err != nil {
		return nil, err
	}
	if err := free(path, false); err != nil {
		return nil, err
	}
	return opened(sqlite.Open(ctx, path, sqlite.Options{Create: create, Making: m, Rekeying: rekeying}))
}

// free returns an error for a path that belongs to another database, because SQLite would take the file for that
// database's log, or a collector would take it for its events. Errors: fault.Invalid.
func free(path string, events bool) error {
	if events {
		path = strings.TrimSuffix(path, "-events")
	}
	return outfile.CheckName(path)
}

// opened returns a nil interface if the store was not opened.
func opened[S backend.Store](s S, err error) (backend.Store, error) {
	if err != nil {
		return nil, err
	}
	return s, nil
}

// OpenScratch opens a copy of a database, for trying out changes. The database itself does not change, and need
// not exist yet. Closing the copy removes it. Errors: those of Open.
func OpenScratch(ctx context.Context, url string) (backend.Store, error) {
	if IsServer(url) {
		return scratchOf(ctx, url)
	}
	path, err := file(url)
	if err != nil {
		return nil, err
	}
	from, err := readable(ctx, path)
	if err != nil {
		return nil, err
	}
	scratch, err := sqlite.OpenScratch(ctx, from.path, sqlite.Options{})
	if again := from.remove(); err == nil && again != nil {
		err = errors.Join(again, scratch.Close())
	}
	if err != nil {
		return nil, err
	}
	return scratch, nil
}

// scratchOf copies a database on a server into a file. Only the ids differ.
func scratchOf(ctx context.Context, url string) (backend.Store, error) {
	dir, err := os.MkdirTemp("", "adshard-empty-")
	if err != nil {
		return nil, fault.New(fault.Unavailable, opOpen, err)
	}
	defer os.Remove(dir)
	scratch, err := sqlite.OpenScratch(ctx, filepath.Join(dir, "none.db"), sqlite.Options{})
	if err != nil {
		return nil, err
	}
	from, err := Open(ctx, url, false)
	if fault.Is(err, fault.NotFound) {
		return scratch, nil // the database does not exist yet
	}
	if err == nil {
		_, err = transfer.Copy(ctx, from, scratch, backend.Making{}, nil)
		err = errors.Join(err, from.Close())
	}
	if err != nil {
		return nil, errors.Join(err, scratch.Close())
	}
	return scratch, nil
}

// file returns the path in a URL sqlite:PATH.
func file(url string) (string, error) {
	path, ok := strings.CutPrefix(url, "sqlite:")
	if !ok || path == "" {
		return "", fault.Field(opOpen, "db", "this is not a database URL that this program knows; give sqlite:PATH or postgres://USER@HOST/DATABASE") // the text may have a password
	}
	return path, nil
}
