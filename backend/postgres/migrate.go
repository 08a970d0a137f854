package postgres

import (
	"context"
	"embed"
	"errors"
	"io/fs"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/database"

	"adshard/backend"
	"adshard/fault"
)

// migrations create the schema and bring it to newer versions. The folder `earlier` has the single step from
// keptSchema to firstSchema.
//
//go:embed migrations/*.sql earlier/*.sql
var migrations embed.FS

const (
	// firstSchema is the version of the schema that a new database gets first. Migrations bring it to newer versions.
	firstSchema = 7
	// keptSchema is the only earlier version from which a database can be updated.
	keptSchema = 4
	history    = "adshard.goose_db_version"
	// leastServer is the oldest supported version of the server.
	leastServer = 150000
)

// schema is a version of the schema, with the migrations that lead to it.
type schema struct {
	files   fs.FS
	version int64
}

// thisSchema returns the schema of this program.
func thisSchema() schema { return schema{migrations, schemaVersion} }

// prepare makes sure that the database is whole or is being made by o.Making, and that its schema has this program's
// version.
func prepare(ctx context.Context, c *pgx.Conn, name string, o Options) error {
	version, noted, err := stored(ctx, c, name, o)
	switch {
	case err != nil:
		return failed(ctx, "open", name, err)
	case version == o.schema.version && (len(noted) == 0 || slices.ContainsFunc(noted, o.Making.Same)):
		return nil
	case version == 0 && !o.Create:
		return noSchema(name)
	case version != 0 && !supported(version, o.schema):
		return otherSchema(name, version)
	}
	return failed(ctx, "migrate", name, alone(ctx, c, func() error { return update(ctx, c, name, o) }))
}

// alone calls f in one process at a time; a process that waited finds the work done. The lock is that of a transaction: with a
// pooler, the lock of a session could be taken in one session and released in another. f uses c, so the transaction has a
// connection of its own.
func alone(ctx context.Context, c *pgx.Conn, f func() error) error {
	lock, err := pgx.ConnectConfig(ctx, c.Config())
	if err != nil {
		return err
	}
	defer lock.Close(context.WithoutCancel(ctx))
	return pgx.BeginFunc(ctx, lock, func(tx pgx.Tx) error {
		for _, sql := range []string{"SET LOCAL idle_in_transaction_session_timeout = 0", lockMaking} {
			if _, err := tx.Exec(ctx, sql); err != nil {
				return err
			}
		}
		return f()
	})
}

// update notes o.Making in a database that is new or unfinished, and brings the schema to this program's version.
func update(ctx context.Context, c *pgx.Conn, name string, o Options) error {
	version, noted, err := stored(ctx, c, name, o)
	if err == nil && (version == 0 || len(noted) > 0) {
		err = pgx.BeginFunc(ctx, c, func(tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, "CREATE SCHEMA IF NOT EXISTS adshard"); err != nil || o.Making.By == "" {
				return err
			}
			return note(ctx, tx, o.Making)
		})
		o.step()
	}
	if err == nil && version == keptSchema {
		err = migrate(ctx, c, o, "earlier")
	}
	if err == nil && version < o.schema.version {
		err = migrate(ctx, c, o, "migrations")
	}
	return err
}

// stored returns the version of the schema and the noted makings. It returns fault.Conflict if o.Making may not open
// the database.
func stored(ctx context.Context, c *pgx.Conn, name string, o Options) (version int64, noted []backend.Making, err error) {
	if version, err = storedVersion(ctx, c, name); err == nil {
		noted, err = makings(ctx, c)
	}
	if err == nil {
		err = unfinished(name, o.Making.MayOpen(noted))
	}
	return version, noted, err
}

// storedVersion returns the version of the newest applied migration, or 0 if there is no schema.
func storedVersion(ctx context.Context, c *pgx.Conn, name string) (version int64, err error) {
	var server int
	var present bool
	err = c.QueryRow(ctx, "SELECT current_setting('server_version_num')::int, to_regclass($1) IS NOT NULL", history).Scan(&server, &present)
	switch {
	case err != nil:
		return 0, err
	case server < leastServer:
		return 0, fault.Newf(fault.Version, "postgres: open", "database %s is on a server of version %d: at least %d is needed",
			name, server/10000, leastServer/10000)
	case !present:
		return 0, nil
	}
	err = c.QueryRow(ctx, "SELECT coalesce(max(version_id), 0) FROM "+history+" WHERE is_applied").Scan(&version)
	return version, err
}

// migrate applies the missing migrations of a directory.
func migrate(ctx context.Context, c *pgx.Conn, o Options, from string) error {
	db := stdlib.OpenDB(*c.Config())
	defer db.Close()
	files, err := fs.Sub(o.schema.files, from)
	if err != nil {
		return err
	}
	store, err := database.NewStore(database.DialectPostgres, history)
	if err != nil {
		return err
	}
	p, err := goose.NewProvider("", db, files, goose.WithStore(store),
		goose.WithDisableGlobalRegistry(true), goose.WithLogger(goose.NopLogger()))
	if err != nil {
		return err
	}
	for {
		_, err := p.UpByOne(ctx)
		if errors.Is(err, goose.ErrNoNextVersion) {
			return nil
		}
		if err != nil {
			return err
		}
		o.step()
	}
}
