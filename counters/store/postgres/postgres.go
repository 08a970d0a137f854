// Package postgres keeps counters in the table adshard_counters of a PostgreSQL database. Any
// number of processes may share it. A batch locks its rows in the order of their keys. Rows that it
// only checks get a shared lock, so that updates of different shards, which all check the head, do
// not wait for each other.
package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"adshard/counters/store"
	"adshard/fault"
	"adshard/internal/pgserver"
)

// schema creates the table under an advisory lock: without it, two processes that create a table at
// once may fail.
const schema = `SELECT pg_advisory_xact_lock(hashtext('adshard_counters'));
CREATE TABLE IF NOT EXISTS adshard_counters (key bytea PRIMARY KEY, value bytea NOT NULL, version bigint NOT NULL) WITH (fillfactor = 70)`

// connections is the greatest number of connections of a store, unless the URL sets pool_max_conns.
const connections = 20

// Store is a store.Store.
type Store struct{ pool *pgxpool.Pool }

var _ store.Store = (*Store)(nil)

// Open connects to the database at url and makes the table if there is none. Errors:
// fault.Invalid (the URL), fault.Unavailable.
func Open(ctx context.Context, url string) (*Store, error) {
	cfg, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, fault.Newf(fault.Invalid, "postgres: open", "write postgres://USER@HOST/DATABASE: %w", err)
	}
	if cfg.ConnConfig.ValidateConnect == nil { // never a standby: its data may be old
		cfg.ConnConfig.ValidateConnect = pgconn.ValidateConnectTargetSessionAttrsReadWrite
	}
	if !strings.Contains(url, "pool_max_conns") {
		cfg.MaxConns = connections
	}
	cfg.AfterConnect = func(_ context.Context, c *pgx.Conn) error { return pgserver.Check(c) }
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return nil, failed(ctx, "open", err)
	}
	err = pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
		_, err := tx.Conn().PgConn().Exec(ctx, schema).ReadAll()
		return err
	})
	if err != nil {
		pool.Close()
		return nil, failed(ctx, "open", err)
	}
	return &Store{pool: pool}, nil
}

// Close waits for the calls under way, and closes the store.
func (s *Store) Close() { s.pool.Close() }

// Get implements store.Store.
func (s *Store) Get(ctx context.Context, key string) (store.Item, error) {
	items, err := s.read(ctx, "get", "SELECT key, value, version FROM adshard_counters WHERE key = $1", []byte(key))
	if err != nil || len(items) == 0 {
		return store.Item{Key: key}, err
	}
	return items[0], nil
}

// List implements store.Store.
func (s *Store) List(ctx context.Context, prefix string, limit int) ([]store.Item, error) {
	var end []byte // nil if there is no end
	if e := store.End(prefix); e != "" {
		end = []byte(e)
	}
	var most *int
	if limit > 0 {
		most = &limit
	}
	return s.read(ctx, "list", "SELECT key, value, version FROM adshard_counters WHERE key >= $1 AND ($2::bytea IS NULL OR key < $2) ORDER BY key LIMIT $3",
		[]byte(prefix), end, most)
}

// read runs one statement on a snapshot of the store.
func (s *Store) read(ctx context.Context, op, sql string, args ...any) ([]store.Item, error) {
	rows, err := s.pool.Query(ctx, sql, args...)
	if err != nil {
		return nil, failed(ctx, op, err)
	}
	out, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (it store.Item, err error) {
		var key []byte
		var version int64
		err = row.Scan(&key, &it.Value, &version)
		it.Key, it.Version = string(key), uint64(version)
		return it, err
	})
	return out, failed(ctx, op, err)
}

// Apply implements store.Store.
func (s *Store) Apply(ctx context.Context, changes ...store.Change) (uint64, error) {
	if err := store.Validate(changes); err != nil {
		return 0, err
	}
	version := store.NewVersion()
	ordered := store.InOrder(changes)
	batch := new(pgx.Batch)
	for i := range ordered {
		queue(batch, &ordered[i], version)
	}
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		results := tx.SendBatch(ctx, batch)
		for i := range ordered {
			tag, err := results.Exec()
			if err == nil && tag.RowsAffected() == 0 {
				err = store.Conflict(&ordered[i])
			}
			if err != nil {
				_ = results.Close() // err says more; the transaction is rolled back
				return err
			}
		}
		return results.Close()
	})
	return version, failed(ctx, "apply", err)
}

// queue adds the statement of one change to a batch. The statement waits for the row's lock, and
// then compares the row's version.
func queue(b *pgx.Batch, c *store.Change, version uint64) {
	key, old, as := []byte(c.Key), int64(c.Version), int64(version)
	value := c.Value
	if value == nil {
		value = []byte{} // not NULL
	}
	switch {
	case c.Action == store.Check:
		b.Queue("SELECT FROM adshard_counters WHERE key = $1 AND version = $2 FOR SHARE", key, old)
	case c.Action == store.Delete:
		b.Queue("DELETE FROM adshard_counters WHERE key = $1 AND version = $2", key, old)
	case old == 0:
		b.Queue("INSERT INTO adshard_counters (key, value, version) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING", key, value, as)
	default:
		b.Queue("UPDATE adshard_counters SET value = $3, version = $4 WHERE key = $1 AND version = $2", key, old, value, as)
	}
}

// failed gives an error of the server or the connection a kind, and a text that says what to do.
// Conflicts and invalid batches are returned as they are.
func failed(ctx context.Context, op string, err error) error {
	switch {
	case err == nil || fault.Is(err, fault.Conflict) || fault.Is(err, fault.Invalid):
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
		case "22", "28", "3D", "42":
			kind, advice = fault.Unavailable, "see the role, its permissions and the table adshard_counters"
		}
	}
	return fault.Newf(kind, "postgres: "+op, "%w: %s", err, advice)
}
