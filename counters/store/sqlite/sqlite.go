// Package sqlite keeps counters in a SQLite file of their own. A batch is durable when
// Apply returns, and batches are made one at a time. Several processes of one machine may
// share the file; their writers poll for its lock until their contexts end.
package sqlite

import (
	"context"
	"fmt"

	zs "zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"adshard/counters/store"
	"adshard/fault"
	"adshard/internal/ulimit"
)

const (
	// format is the format of the table, stored as the file's user_version.
	format = 1
	schema = `CREATE TABLE IF NOT EXISTS counter (key BLOB PRIMARY KEY, value BLOB NOT NULL, version INTEGER NOT NULL) WITHOUT ROWID, STRICT`
	// connections is the number of connections in the pool, and so of goroutines that
	// read at once.
	connections = 4
)

// Store is a store.Store.
type Store struct {
	path string
	pool *sqlitex.Pool
	turn chan struct{} // held by the goroutine that writes: waiting for it is fair, waiting for SQLite's lock is not
}

var _ store.Store = (*Store)(nil)

// Open opens a file, or creates it if there is none. Errors: fault.Version if the file
// has another format, fault.Locked, fault.Corrupt, fault.Unavailable.
func Open(ctx context.Context, path string) (*Store, error) {
	pool, err := sqlitex.NewPool(path, sqlitex.PoolOptions{
		Flags: zs.OpenReadWrite | zs.OpenCreate, PoolSize: connections, PrepareConn: prepare,
	})
	if err != nil {
		return nil, failed(ctx, "open", path, err)
	}
	s := &Store{path: path, pool: pool, turn: make(chan struct{}, 1)}
	if err := s.writing(ctx, "open", s.createTable); err != nil {
		_ = pool.Close() // err says more
		return nil, err
	}
	return s, nil
}

// Close closes the store. Calls under way fail.
func (s *Store) Close() error { return s.pool.Close() }

func prepare(c *zs.Conn) error {
	for _, setting := range []string{"PRAGMA journal_mode = WAL", "PRAGMA synchronous = FULL"} {
		if err := sqlitex.ExecuteTransient(c, setting, nil); err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) createTable(c *zs.Conn) error {
	found, err := sqlitex.ResultInt(c.Prep("PRAGMA user_version"))
	switch {
	case err != nil:
		return err
	case found == format:
		return nil
	case found != 0:
		return fault.Newf(fault.Version, "sqlite: open", "%s has format %d of counters, this program knows %d", s.path, found, format)
	}
	if err := sqlitex.ExecuteTransient(c, schema, nil); err != nil {
		return err
	}
	return sqlitex.ExecuteTransient(c, fmt.Sprintf("PRAGMA user_version = %d", format), nil)
}

// writing calls f in a write transaction, when it is this goroutine's turn.
func (s *Store) writing(ctx context.Context, op string, f func(*zs.Conn) error) (err error) {
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	c, err := s.pool.Take(ctx)
	if err != nil {
		return failed(ctx, op, s.path, err)
	}
	defer s.pool.Put(c)
	end, err := sqlitex.ImmediateTransaction(c)
	if err != nil {
		return failed(ctx, op, s.path, err)
	}
	err = f(c)
	end(&err)
	return failed(ctx, op, s.path, err)
}

// Get implements store.Store.
func (s *Store) Get(ctx context.Context, key string) (store.Item, error) {
	items, err := s.read(ctx, "get", "SELECT key, value, version FROM counter WHERE key = ?", []byte(key))
	if err != nil || len(items) == 0 {
		return store.Item{Key: key}, err
	}
	return items[0], nil
}

// List implements store.Store.
func (s *Store) List(ctx context.Context, prefix string, limit int) ([]store.Item, error) {
	if limit <= 0 {
		limit = -1 // no limit
	}
	if end := store.End(prefix); end != "" {
		return s.read(ctx, "list", "SELECT key, value, version FROM counter WHERE key >= ? AND key < ? ORDER BY key LIMIT ?",
			[]byte(prefix), []byte(end), limit)
	}
	return s.read(ctx, "list", "SELECT key, value, version FROM counter WHERE key >= ? ORDER BY key LIMIT ?", []byte(prefix), limit)
}

// read runs one statement on a snapshot of the store.
func (s *Store) read(ctx context.Context, op, sql string, args ...any) (out []store.Item, err error) {
	c, err := s.pool.Take(ctx)
	if err != nil {
		return nil, failed(ctx, op, s.path, err)
	}
	defer s.pool.Put(c)
	err = sqlitex.Execute(c, sql, &sqlitex.ExecOptions{Args: args, ResultFunc: func(st *zs.Stmt) error {
		out = append(out, store.Item{Key: string(blob(st, 0)), Value: blob(st, 1), Version: uint64(st.ColumnInt64(2))})
		return nil
	}})
	return out, failed(ctx, op, s.path, err)
}

func blob(st *zs.Stmt, column int) []byte {
	b := make([]byte, st.ColumnLen(column))
	st.ColumnBytes(column, b)
	return b
}

// Apply implements store.Store.
func (s *Store) Apply(ctx context.Context, changes ...store.Change) (uint64, error) {
	if err := store.Validate(changes); err != nil {
		return 0, err
	}
	version := store.NewVersion()
	err := s.writing(ctx, "apply", func(c *zs.Conn) error {
		for i := range changes {
			if err := apply(c, &changes[i], version); err != nil {
				return err
			}
		}
		return nil
	})
	return version, err
}

// apply makes one change. SQLite allows one writer at a time, so a row cannot change
// after its version was compared.
func apply(c *zs.Conn, ch *store.Change, version uint64) error {
	key, old, as := []byte(ch.Key), int64(ch.Version), int64(version)
	value := ch.Value
	if value == nil {
		value = []byte{} // not NULL
	}
	sql, args := "", []any(nil)
	switch {
	case ch.Action == store.Check:
		sql, args = "SELECT 1 FROM counter WHERE key = ? AND version = ?", []any{key, old}
	case ch.Action == store.Delete:
		sql, args = "DELETE FROM counter WHERE key = ? AND version = ?", []any{key, old}
	case old == 0:
		sql, args = "INSERT INTO counter (key, value, version) VALUES (?, ?, ?) ON CONFLICT DO NOTHING", []any{key, value, as}
	default:
		sql, args = "UPDATE counter SET value = ?, version = ? WHERE key = ? AND version = ?", []any{value, as, key, old}
	}
	found := 0
	err := sqlitex.Execute(c, sql, &sqlitex.ExecOptions{Args: args, ResultFunc: func(*zs.Stmt) error { found++; return nil }})
	if ch.Action != store.Check {
		found = c.Changes()
	}
	if err == nil && found == 0 {
		return store.Conflict(ch)
	}
	return err
}

// failed gives an error of SQLite a kind, and a text that says what to do. Conflicts and
// errors of the file's format are returned as they are.
func failed(ctx context.Context, op, path string, err error) error {
	switch {
	case err == nil || fault.Is(err, fault.Conflict) || fault.Is(err, fault.Version):
		return err
	case ctx.Err() != nil:
		return fmt.Errorf("sqlite: %s: %w", op, context.Cause(ctx))
	}
	kind, advice := fault.Unavailable, "see whether the file can be read and written"
	switch zs.ErrCode(err).ToPrimary() {
	case zs.ResultBusy, zs.ResultLocked:
		kind, advice = fault.Locked, "another program is writing to it, try again"
	case zs.ResultCorrupt, zs.ResultNotADB:
		kind, advice = fault.Corrupt, "the file is damaged or not a database: name another one, or restore it from a copy"
	case zs.ResultFull:
		kind, advice = fault.NoSpace, "the disk is full, make room"
	case zs.ResultCantOpen: // SQLite does not say why
		if many := ulimit.Advice(ulimit.Reached()); many != "" {
			advice = many
		}
	}
	return fault.Newf(kind, "sqlite: "+op, "%s: %w: %s", path, err, advice)
}
