package postgres

import (
	"context"
	"io/fs"
	"testing/fstest"

	"adshard/backend/upsert"
)

// Tighten makes transactions forget nearly everything at once.
func (s *Store) Tighten() { s.limits = upsert.Limits{Queued: 2, Cached: 6, Parents: 2} }

// KnownID returns the id with which those of connections are compared.
func (s *Store) KnownID() string { return s.id }

// Stepped sets a function that is called after each step of making a database.
func (o *Options) Stepped(f func()) { o.stepped = f }

// Follow makes the schema that comes after this program's, with one more migration.
func (o *Options) Follow(migration string) {
	files := fstest.MapFS{"migrations/99999_next.sql": {Data: []byte(migration)}}
	names, _ := fs.Glob(migrations, "migrations/*.sql")
	for _, name := range names {
		data, _ := migrations.ReadFile(name)
		files[name] = &fstest.MapFile{Data: data}
	}
	o.schema = schema{files, 99999}
}

// Failed converts an error of a database to the one that users see.
func Failed(ctx context.Context, err error) error { return failed(ctx, "test", "ads on db", err) }
