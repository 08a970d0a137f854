// Package postgres keeps events in a PostgreSQL database, in its schema adshard_events. Any number
// of processes may share it. A transaction locks ids, then sums, in order, so no two wait for each
// other. Sums are in parts, so processes that count for one campaign seldom wait at all.
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
	// firstFormat is the format of schema, the oldest that is brought over. The next ones come by steps.
	firstFormat = 3
	// schema: erased are ids in hexadecimal by advertiser, in the row that Add locks: what it reads beside a lock that it has
	// waited for may be older.
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
	// identity makes format 4, in which the tables say which database of events they
	// are.
	identity = `
CREATE TABLE adshard_events.identity (one boolean PRIMARY KEY CHECK (one), id text NOT NULL);
INSERT INTO adshard_events.identity VALUES (true, replace(gen_random_uuid()::text, '-', ''));`
	// readers lets a balancer with the role of adshard db roles show what campaigns have spent, if there is that role.
	// roles.sql of backend/postgres says the same, for roles that are made after the tables.
	readers = `
DO $$ BEGIN
  IF to_regrole('adshard_serve') IS NOT NULL THEN
    GRANT USAGE ON SCHEMA adshard_events TO adshard_serve;
    GRANT SELECT ON adshard_events.spent TO adshard_serve;
    GRANT SELECT (format) ON adshard_events.horizon TO adshard_serve;
    GRANT SELECT ON adshard_events.identity TO adshard_serve;
  END IF;
END $$;`
	// lockSchema lets one process at a time make tables: two that make one at once may fail.
	lockSchema = `SELECT pg_advisory_xact_lock(hashtext('adshard_events'));`
	// parts is of how many parts a sum is at most.
	parts = 16
	// connections is how many a store uses at most, unless the URL says pool_max_conns.
	connections = 8
)

// formats are those that a program knows: firstFormat, and one for each step, a script that makes it of the one before.
type formats []string

func (f formats) newest() int { return firstFormat + len(f) }

// thisProgram has those of this program.
func thisProgram() formats { return formats{identity} }

// Store is a store.Store.
type Store struct {
	pool *pgxpool.Pool
	part int16 // of sums that this process writes
}

var _ store.Store = (*Store)(nil)

// Open connects to the database at url and makes the tables if there are none. A replica in
// the URL, which is for backend/postgres, is left out. Errors: fault.Invalid (the URL),
// fault.Version (tables of another format), those of the contract.
func Open(ctx context.Context, text string) (*Store, error) {
	return openFormats(ctx, text, thisProgram())
}

// openFormats is Open for a program that knows these formats.
func openFormats(ctx context.Context, text string, f formats) (*Store, error) {
	return open(ctx, text, durable, func(ctx context.Context, pool *pgxpool.Pool) error { return prepare(ctx, pool, f) })
}

// OpenReader connects to a database that has the tables of events, and changes nothing in it; adshard_serve is the
// role for it. Errors: fault.Invalid (the URL), fault.NotFound if there are no tables, fault.Version (tables of
// another format), those of the contract.
func OpenReader(ctx context.Context, text string) (store.Reader, error) {
	s, err := open(ctx, text, readOnly, checkFormat)
	if err != nil {
		return nil, err
	}
	return s, nil
}

// open connects to the database, calls setUp with each connection, and begin with the pool.
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

// parse reads a URL. Errors: fault.Invalid, without the URL, which may have a password though it must not.
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
	if cfg.ConnConfig.ValidateConnect == nil { // never a standby: it may answer with what is past
		cfg.ConnConfig.ValidateConnect = pgconn.ValidateConnectTargetSessionAttrsReadWrite
	}
	if !q.Has("pool_max_conns") {
		cfg.MaxConns = connections
	}
	return cfg, nil
}

// durable makes commits of a connection durable whatever the server's settings are.
func durable(ctx context.Context, c *pgx.Conn) error {
	if err := pgserver.Check(c); err != nil {
		return err
	}
	return pgserver.Durable(ctx, c)
}

// readOnly has the server refuse all writes of a connection; not behind a pooler, where other connections would have its session.
func readOnly(ctx context.Context, c *pgx.Conn) error {
	if err := pgserver.Check(c); err != nil || pgserver.Pooled(c) {
		return err
	}
	_, err := c.Exec(ctx, "SET default_transaction_read_only = on")
	return err
}

// checkFormat fails unless there are the tables of this program.
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

// prepare makes the tables where there are none, or brings those of an earlier format up to
// date: a role that may not is fine where there is nothing to do.
func prepare(ctx context.Context, pool *pgxpool.Pool, f formats) error {
	found, err := formatOf(ctx, pool)
	if err == nil && found != f.newest() {
		err = pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error { return update(ctx, tx, f) })
	}
	return err
}

// update brings the tables to the newest format, unless another process has done so.
func update(ctx context.Context, tx pgx.Tx, f formats) error {
	if _, err := tx.Exec(ctx, lockSchema); err != nil {
		return err
	}
	found, err := formatOf(ctx, tx) // perhaps another process was first
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
	// Read from the catalog: to_regclass may have remembered that there was none before another process made the tables.
	err = q.QueryRow(ctx, "SELECT EXISTS (SELECT FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"+
		" WHERE n.nspname = 'adshard_events' AND c.relname = 'horizon')").Scan(&there)
	if err == nil && there {
		err = q.QueryRow(ctx, "SELECT format FROM adshard_events.horizon").Scan(&found)
	}
	return found, err
}

// Close closes the store when the calls that are under way have ended.
func (s *Store) Close() error {
	s.pool.Close()
	return nil
}

// Health implements store.Store.
func (s *Store) Health(ctx context.Context) error {
	return s.execute(ctx, "health", "SELECT FROM adshard_events.horizon")
}

// failed gives an error of the server or the connection a kind and a text that says what
// to do; what has a kind keeps it.
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
