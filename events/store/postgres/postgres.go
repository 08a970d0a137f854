// Package postgres keeps events in the schema adshard_events of a PostgreSQL database. Any number of processes may share it.
// A transaction locks ids and then sums, each in order, so that there are no deadlocks. Sums are in parts, so that processes
// that count for the same campaign seldom wait for each other at all.
package postgres

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"adshard/events/store"
	"adshard/fault"
	"adshard/internal/pgserver"
)

const (
	// firstFormat is the format that schema creates, and the oldest that can be updated. Each later format is made from the
	// one before.
	firstFormat = 3
	// schema creates the tables of format 3. `erased` has ids in hexadecimal by advertiser. It is a column of the row that
	// Add locks: other rows, read after waiting for that lock, may be older than the row.
	schema = `
CREATE SCHEMA IF NOT EXISTS adshard_events;
CREATE TABLE adshard_events.raw (id bytea NOT NULL, kind smallint NOT NULL, day integer NOT NULL, advertiser bigint NOT NULL,
  campaign bigint NOT NULL, keyword bigint NOT NULL, ad bigint NOT NULL, position smallint NOT NULL, price bigint NOT NULL, query bigint NOT NULL,
  PRIMARY KEY (id, kind));
CREATE TABLE adshard_events.spent (campaign bigint NOT NULL, day integer NOT NULL, part smallint NOT NULL,
  impressions bigint NOT NULL, clicks bigint NOT NULL, spend bigint NOT NULL, PRIMARY KEY (campaign, day, part)) WITH (fillfactor = 70);
CREATE TABLE adshard_events.folded (advertiser bigint NOT NULL, campaign bigint NOT NULL, keyword bigint NOT NULL, day integer NOT NULL,
  ad bigint NOT NULL, position smallint NOT NULL, impressions bigint NOT NULL, clicks bigint NOT NULL, spend bigint NOT NULL,
  PRIMARY KEY (advertiser, campaign, keyword, day, ad, position));
CREATE TABLE adshard_events.mark (campaign bigint PRIMARY KEY, day integer NOT NULL);
CREATE TABLE adshard_events.horizon (one boolean PRIMARY KEY CHECK (one), format integer NOT NULL, id bytea NOT NULL,
  database text NOT NULL DEFAULT '', erased jsonb NOT NULL DEFAULT '{}');
INSERT INTO adshard_events.horizon (one, format, id) VALUES (true, 3, '');`
	// identity makes format 4, in which a table has the id of the database of events.
	identity = `
CREATE TABLE adshard_events.identity (one boolean PRIMARY KEY CHECK (one), id text NOT NULL);
INSERT INTO adshard_events.identity VALUES (true, replace(gen_random_uuid()::text, '-', ''));`
	// readers lets a balancer with the role from `adshard db roles` show what campaigns have spent, if that role exists.
	// roles.sql of backend/postgres grants the same, for roles that are created after the tables.
	readers = `
DO $$ BEGIN
  IF to_regrole('adshard_serve') IS NOT NULL THEN
    GRANT USAGE ON SCHEMA adshard_events TO adshard_serve;
    GRANT SELECT ON adshard_events.spent TO adshard_serve;
    GRANT SELECT (format) ON adshard_events.horizon TO adshard_serve;
    GRANT SELECT ON adshard_events.identity TO adshard_serve;
  END IF;
END $$;`
	// lockSchema lets one process at a time create tables: if two do so at once, one may fail.
	lockSchema = `SELECT pg_advisory_xact_lock(hashtext('adshard_events'));`
	// parts is the greatest number of parts of a sum.
	parts = 16
	// connections is the greatest number of connections of a store, unless the URL sets pool_max_conns.
	connections = 8
)

// formats has the scripts that update the tables from firstFormat, one for each later format.
type formats []string

func (f formats) newest() int { return firstFormat + len(f) }

// thisProgram returns the formats that this program knows.
func thisProgram() formats { return formats{identity} }

// Store is a store.Store.
type Store struct {
	pool *pgxpool.Pool
	part int16 // the part of each sum that this process writes
}

var _ store.Store = (*Store)(nil)

// Open connects to the database at a URL, and creates the tables if there are none. It ignores a replica in the URL, which is
// meant for backend/postgres. Errors: fault.Invalid if the URL is not valid, fault.Version if the tables have another format,
// and those of store.Store.
func Open(ctx context.Context, text string) (*Store, error) {
	return openFormats(ctx, text, thisProgram())
}

// openFormats does what Open does, for a program that knows these formats.
func openFormats(ctx context.Context, text string, f formats) (*Store, error) {
	return open(ctx, text, durable, func(ctx context.Context, pool *pgxpool.Pool) error { return prepare(ctx, pool, f) })
}

// OpenReader connects to a database that has the tables of events, and changes nothing in it. The role adshard_serve is made
// for this. Errors: fault.Invalid if the URL is not valid, fault.NotFound if there are no tables, fault.Version if they have
// another format, and those of store.Store.
func OpenReader(ctx context.Context, text string) (store.Reader, error) {
	s, err := open(ctx, text, readOnly, checkFormat)
	if err != nil {
		return nil, err
	}
	return s, nil
}

// open connects to the database. It calls setUp for each new connection, and begin for the pool.
func open(ctx context.Context, text string, setUp func(context.Context, *pgx.Conn) error, begin func(context.Context, *pgxpool.Pool) error) (*Store, error) {
	cfg, err := parse(text)
	if err != nil {
		return nil, err
	}
	cfg.AfterConnect = setUp
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return nil, failed(ctx, "open", err)
	}
	if err := begin(ctx, pool); err != nil {
		pool.Close()
		return nil, failed(ctx, "open", err)
	}
	return &Store{pool: pool, part: int16(rand.IntN(parts))}, nil
}

// parse reads a URL. Errors: fault.Invalid. The error does not show the URL, since it may have a password although it should
// not.
func parse(text string) (*pgxpool.Config, error) {
	u, err := url.Parse(text)
	if err != nil {
		return nil, fault.Newf(fault.Invalid, "postgres: open", "this is no URL of a database: write postgres://USER@HOST/DATABASE")
	}
	q := u.Query()
	if _, has := u.User.Password(); has || q.Has("password") || q.Has("sslpassword") {
		return nil, fault.Newf(fault.Invalid, "postgres: open", "a password in a URL can be read in lists of processes and in logs:"+
			" put it into a password file (~/.pgpass, or passfile=PATH in the URL)")
	}
	q.Del("replica")
	u.RawQuery = q.Encode()
	cfg, err := pgxpool.ParseConfig(u.String())
	if err != nil {
		return nil, fault.Newf(fault.Invalid, "postgres: open", "write postgres://USER@HOST/DATABASE: %w", err)
	}
	if cfg.ConnConfig.ValidateConnect == nil { // never a standby: its data may be old
		cfg.ConnConfig.ValidateConnect = pgconn.ValidateConnectTargetSessionAttrsReadWrite
	}
	if !q.Has("pool_max_conns") {
		cfg.MaxConns = connections
	}
	return cfg, nil
}

// durable makes the commits of a connection durable, whatever the settings of the server are.
func durable(ctx context.Context, c *pgx.Conn) error {
	if err := pgserver.Check(c); err != nil {
		return err
	}
	return pgserver.Durable(ctx, c)
}

// readOnly makes the server reject all writes of a connection. It does nothing behind a pooler, where other connections would
// get the session.
func readOnly(ctx context.Context, c *pgx.Conn) error {
	if err := pgserver.Check(c); err != nil || pgserver.Pooled(c) {
		return err
	}
	_, err := c.Exec(ctx, "SET default_transaction_read_only = on")
	return err
}

// checkFormat returns an error unless the tables have the newest format of this program.
func checkFormat(ctx context.Context, pool *pgxpool.Pool) error {
	found, err := formatOf(ctx, pool)
	switch {
	case err != nil || found == thisProgram().newest():
		return err
	case found == 0:
		return fault.Newf(fault.NotFound, "postgres: open", "this database has no tables of events: name that of the collectors, which make them")
	}
	return fault.Newf(fault.Version, "postgres: open", "the tables of events have format %d, this program knows %d: run collectors of the same version",
		found, thisProgram().newest())
}

// prepare creates the tables if there are none, or updates those of an earlier format. If there is nothing to do, it works
// even for a role that may not do so.
func prepare(ctx context.Context, pool *pgxpool.Pool, f formats) error {
	found, err := formatOf(ctx, pool)
	if err == nil && found != f.newest() {
		err = pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error { return update(ctx, tx, f) })
	}
	return err
}

// update creates the tables or updates them to the newest format, unless another process has just done so.
func update(ctx context.Context, tx pgx.Tx, f formats) error {
	if _, err := tx.Exec(ctx, lockSchema); err != nil {
		return err
	}
	found, err := formatOf(ctx, tx) // another process may have been first
	if err != nil || found == f.newest() {
		return err
	}
	script := ""
	if found == 0 {
		script, found = schema, firstFormat
	}
	if found < firstFormat || found > f.newest() {
		return otherFormat(found, f)
	}
	script += strings.Join(f[found-firstFormat:], "") + fmt.Sprintf("UPDATE adshard_events.horizon SET format = %d;", f.newest())
	_, err = tx.Conn().PgConn().Exec(ctx, script+readers).ReadAll()
	return err
}

func otherFormat(found int, f formats) error {
	use := "use a newer program"
	if found < firstFormat {
		use = fmt.Sprint("open the database once with the program of format ", firstFormat)
	}
	return fault.Newf(fault.Version, "postgres: open", "the tables of events have format %d, this program knows %d to %d: %s", found, firstFormat, f.newest(), use)
}

// formatOf returns the format of the tables, or 0 if there are none.
func formatOf(ctx context.Context, q interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}) (found int, err error) {
	var there bool
	// The catalog is read instead of to_regclass, which may remember that there was no table before another process created
	// it.
	err = q.QueryRow(ctx, "SELECT EXISTS (SELECT FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"+
		" WHERE n.nspname = 'adshard_events' AND c.relname = 'horizon')").Scan(&there)
	if err == nil && there {
		err = q.QueryRow(ctx, "SELECT format FROM adshard_events.horizon").Scan(&found)
	}
	return found, err
}

// Close waits for the calls under way, and closes the store.
func (s *Store) Close() error {
	s.pool.Close()
	return nil
}

// Health implements store.Store.
func (s *Store) Health(ctx context.Context) error {
	return s.execute(ctx, "health", "SELECT FROM adshard_events.horizon")
}

// failed gives an error of the server or the connection a kind, and a text that says what to do. Errors that have a kind are
// returned as they are.
func failed(ctx context.Context, op string, err error) error {
	switch {
	case err == nil || fault.KindOf(err) != fault.Internal:
		return err
	case ctx.Err() != nil:
		return fmt.Errorf("postgres: %s: %w", op, context.Cause(ctx))
	}
	kind, advice := pgserver.Diagnose(err)
	if advice != "" {
		return fault.Newf(kind, "postgres: "+op, "%w: %s", err, advice)
	}
	kind, advice = fault.Unavailable, "see whether the server runs and can be reached"
	var answer *pgconn.PgError
	if errors.As(err, &answer) {
		switch answer.Code[:min(2, len(answer.Code))] {
		case "40", "55":
			kind, advice = fault.Locked, "another transaction is writing the same, try again"
		case "53":
			kind, advice = fault.NoSpace, "the server has no room or no connections left"
		case "XX", "58":
			kind, advice = fault.Corrupt, "see the server's log"
		case "22", "28", "3D", "3F", "42":
			kind, advice = fault.Unavailable, "see the role, its permissions and the schema adshard_events"
		}
	}
	return fault.Newf(kind, "postgres: "+op, "%w: %s", err, advice)
}
