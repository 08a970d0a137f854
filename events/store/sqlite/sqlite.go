// Package sqlite keeps events in a SQLite file of their own, beside the backend's. Events arrive thousands of times a
// second, and in the backend's file they would make imports and the balancer wait. Several processes of one machine may
// share the file; their writers poll for its lock until their contexts end.
package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	zs "zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"adshard/events/store"
	"adshard/fault"
	"adshard/internal/ulimit"
)

const (
	// firstFormat is the format that schema creates, and the oldest that can be updated. Each later format is made from
	// the one before. A file has its format as user_version.
	firstFormat = 3
	// schema creates the tables of format 3. Ids begin with the time, so that new events are neighbours in the tree.
	schema = `
CREATE TABLE raw (id BLOB NOT NULL, kind INTEGER NOT NULL, day INTEGER NOT NULL, advertiser INTEGER NOT NULL, campaign INTEGER NOT NULL,
  keyword INTEGER NOT NULL, ad INTEGER NOT NULL, position INTEGER NOT NULL, price INTEGER NOT NULL, query INTEGER NOT NULL,
  PRIMARY KEY (id, kind)) WITHOUT ROWID, STRICT;
CREATE TABLE spent (campaign INTEGER NOT NULL, day INTEGER NOT NULL, impressions INTEGER NOT NULL, clicks INTEGER NOT NULL, spend INTEGER NOT NULL,
  PRIMARY KEY (campaign, day)) WITHOUT ROWID, STRICT;
CREATE TABLE folded (advertiser INTEGER NOT NULL, campaign INTEGER NOT NULL, keyword INTEGER NOT NULL, day INTEGER NOT NULL, ad INTEGER NOT NULL,
  position INTEGER NOT NULL, impressions INTEGER NOT NULL, clicks INTEGER NOT NULL, spend INTEGER NOT NULL,
  PRIMARY KEY (advertiser, campaign, keyword, day, ad, position)) WITHOUT ROWID, STRICT;
CREATE TABLE mark (campaign INTEGER PRIMARY KEY, day INTEGER NOT NULL) STRICT;
CREATE TABLE horizon (id BLOB NOT NULL, database TEXT NOT NULL DEFAULT '') STRICT;
INSERT INTO horizon (id) VALUES (x'');
CREATE TABLE erased (advertiser INTEGER PRIMARY KEY, id BLOB NOT NULL) STRICT;`
	// identity makes format 4, in which a table has the id of the database of events.
	identity = `
CREATE TABLE identity (id TEXT NOT NULL) STRICT;
INSERT INTO identity VALUES (lower(hex(randomblob(16))));`
	// connections is the number of goroutines that read at once, beside the one that writes.
	connections = 4
)

// formats has the scripts that update a file from firstFormat, one for each later format.
type formats []string

func (f formats) newest() int { return firstFormat + len(f) }

// supported reports whether a file of a format can be opened, perhaps after an update.
func (f formats) supported(found int) bool { return found >= firstFormat && found <= f.newest() }

// thisProgram returns the formats that this program knows.
func thisProgram() formats { return formats{identity} }

// Store is a store.Store.
type Store struct {
	path  string
	files files // the open files
	pool  *sqlitex.Pool
	turn  chan struct{} // held by the goroutine that writes: waiting for it is fair, waiting for SQLite's lock is not
}

var _ store.Store = (*Store)(nil)

// Open opens a file, or creates it if there is none. Errors: fault.Version if the file has another format, and those of
// store.Store.
func Open(ctx context.Context, path string) (*Store, error) {
	return openFormats(ctx, path, thisProgram())
}

// openFormats does what Open does, for a program that knows these formats.
func openFormats(ctx context.Context, path string, f formats) (*Store, error) {
	how := sqlitex.PoolOptions{Flags: zs.OpenReadWrite | zs.OpenCreate, PoolSize: connections + 1, PrepareConn: prepare}
	return open(ctx, path, f, how, func(s *Store) error {
		return s.writing(ctx, "open", func(c *zs.Conn) error { return s.createTables(c, f) })
	})
}

// OpenReader opens an existing file, and changes nothing in it. Errors: fault.NotFound if there is none, fault.Version
// if it has another format, and those of store.Store.
func OpenReader(ctx context.Context, path string) (store.Reader, error) {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil, noEvents(path)
	}
	how := sqlitex.PoolOptions{Flags: zs.OpenReadOnly, PoolSize: connections}
	s, err := open(ctx, path, thisProgram(), how, func(s *Store) error { return s.checkFormat(ctx, thisProgram()) })
	if err != nil {
		return nil, err
	}
	return s, nil
}

// open opens a file, and calls begin with the store.
func open(ctx context.Context, path string, f formats, how sqlitex.PoolOptions, begin func(*Store) error) (*Store, error) {
	path, err := filepath.Abs(path) // so that SQLite sees no name with a special meaning
	if err != nil {
		return nil, fault.New(fault.Unavailable, "sqlite: open", err)
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil, notRegular(path)
	}
	if how.Flags&zs.OpenCreate != 0 {
		if err := makeFile(path); err != nil {
			return nil, failed(ctx, "open", path, err)
		}
	}
	if err := probe(path, f); err != nil {
		return nil, failed(ctx, "open", path, err)
	}
	pool, err := sqlitex.NewPool(path, how)
	if err != nil {
		return nil, failed(ctx, "open", path, err)
	}
	s := &Store{path: path, pool: pool, turn: make(chan struct{}, 1)}
	err = begin(s)
	if err == nil {
		s.files, err = filesOf(path, how.Flags&zs.OpenReadWrite != 0)
		err = failed(ctx, "open", path, err)
	}
	if err != nil {
		_ = pool.Close() // err says more
		return nil, err
	}
	return s, nil
}

// checkFormat returns an error unless the tables have the newest format.
func (s *Store) checkFormat(ctx context.Context, f formats) error {
	return s.read(ctx, "open", "PRAGMA user_version", func(st *zs.Stmt) error {
		switch found := st.ColumnInt(0); found {
		case f.newest():
			return nil
		case 0:
			return noTables(s.path)
		default:
			return fault.Newf(fault.Version, "sqlite: open", "%s has format %d of events, this program knows %d: run collectors of the same version", s.path, found, f.newest())
		}
	})
}

// Close closes the store. Calls under way fail.
func (s *Store) Close() error { return s.pool.Close() }

func prepare(c *zs.Conn) error {
	for _, setting := range []string{
		"PRAGMA journal_mode = WAL", "PRAGMA synchronous = FULL", "PRAGMA cache_size = -16384",
		"PRAGMA wal_autocheckpoint = 4000", "PRAGMA journal_size_limit = 67108864",
	} {
		if err := sqlitex.ExecuteTransient(c, setting, nil); err != nil {
			return err
		}
	}
	return nil
}

// createTables creates the tables if there are none, or updates those of an earlier format.
func (s *Store) createTables(c *zs.Conn, f formats) error {
	found, err := sqlitex.ResultInt(c.Prep("PRAGMA user_version"))
	if err != nil || found == f.newest() {
		return err
	}
	script := ""
	if found == 0 {
		tables, err := sqlitex.ResultInt(c.Prep("SELECT count(*) FROM sqlite_schema"))
		if err == nil && tables > 0 {
			err = fault.Newf(fault.Version, "sqlite: open", "%s is a database of something else than events: name another file", s.path)
		}
		if err != nil {
			return err
		}
		script, found = schema, firstFormat
	}
	if !f.supported(found) {
		return otherFormat(s.path, found, f)
	}
	script += strings.Join(f[found-firstFormat:], "") + fmt.Sprintf("PRAGMA user_version = %d;", f.newest())
	return sqlitex.ExecuteScript(c, script, nil)
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
	if err = f(c); err == nil {
		err = s.files.present(op)
	}
	end(&err)
	if err == nil {
		err = s.files.present(op) // otherwise the commit would go to a file that was removed
	}
	if errors.Is(err, errLogGone) {
		err = errors.Join(err, sqlitex.ExecuteTransient(c, "PRAGMA wal_checkpoint(PASSIVE)", nil))
	}
	return failed(ctx, op, s.path, err)
}

// read runs one statement on a snapshot of the store.
func (s *Store) read(ctx context.Context, op, sql string, row func(*zs.Stmt) error, args ...any) error {
	c, err := s.pool.Take(ctx)
	if err != nil {
		return failed(ctx, op, s.path, err)
	}
	defer s.pool.Put(c)
	if err = s.files.present(op); err == nil {
		err = sqlitex.Execute(c, sql, &sqlitex.ExecOptions{Args: args, ResultFunc: row})
	}
	return failed(ctx, op, s.path, err)
}

// Health implements store.Store.
func (s *Store) Health(ctx context.Context) error {
	return s.read(ctx, "health", "SELECT id FROM horizon", nil)
}

// failed gives an error of SQLite a kind, and a text that says what to do. Errors that have a kind are returned as they
// are.
func failed(ctx context.Context, op, path string, err error) error {
	switch {
	case err == nil || fault.KindOf(err) != fault.Internal:
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
