package sqlite

import (
	"context"
	"errors"

	zs "zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"adshard/fault"
)

// Held is a file of events at one moment, to be copied. It blocks writers until Release. So if a
// copy of the backend database is begun before Hold and finished before Release, both copies are
// of the same moment. It must be closed.
type Held struct {
	path         string
	lock, source *zs.Conn // lock is nil after Release
}

// Hold opens and locks the file at path, which must exist, for the backend database with the given
// id. Errors: those of Open and Claim.
func Hold(ctx context.Context, path, database string) (*Held, error) {
	s, err := Open(ctx, path) // also updates the format
	if err != nil {
		return nil, err
	}
	path = s.path
	if err = errors.Join(s.Claim(ctx, database), s.Close()); err != nil {
		return nil, err
	}
	h := &Held{path: path}
	h.lock, err = held(ctx, path, "BEGIN IMMEDIATE")
	if err == nil {
		h.source, err = held(ctx, path, "BEGIN", "SELECT id FROM horizon") // from here on, changes by others are not seen
	}
	if err != nil {
		return nil, errors.Join(failed(ctx, "hold", path, err), h.Close())
	}
	return h, nil
}

// held opens a connection and executes statements that begin a transaction. ctx interrupts it.
func held(ctx context.Context, path string, statements ...string) (*zs.Conn, error) {
	c, err := zs.OpenConn(path, zs.OpenReadWrite)
	if err != nil {
		return nil, err
	}
	c.SetInterrupt(ctx.Done())
	for _, sql := range statements {
		if err := sqlitex.ExecuteTransient(c, sql, nil); err != nil {
			return nil, errors.Join(err, c.Close())
		}
	}
	return c, nil
}

// Release lets other connections write again.
func (h *Held) Release() error {
	if h.lock == nil {
		return nil
	}
	lock := h.lock
	h.lock = nil
	return failed(context.Background(), "release", h.path, lock.Close())
}

// Close releases the lock and closes the file.
func (h *Held) Close() error {
	err := h.Release()
	if h.source != nil {
		err = errors.Join(err, h.source.Close())
		h.source = nil
	}
	return err
}

// copyPages is the number of pages that are copied between two checks of the context.
const copyPages = 1024

// Copy copies the held file to another file, and checks the copy.
func (h *Held) Copy(ctx context.Context, to, database string) error {
	err := h.copy(ctx, to)
	if err != nil {
		return failed(ctx, "copy", to, err)
	}
	return Check(ctx, to, database)
}

func (h *Held) copy(ctx context.Context, to string) (err error) {
	target, err := zs.OpenConn(to, zs.OpenReadWrite|zs.OpenCreate)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, target.Close()) }()
	b, err := zs.NewBackup(target, "main", h.source, "main")
	if err != nil {
		return err
	}
	for more := true; more && err == nil; {
		if err = ctx.Err(); err == nil {
			more, err = b.Step(copyPages)
		}
	}
	return errors.Join(err, b.Close())
}

// unequal selects a campaign whose sums differ from its events and counts.
const unequal = `SELECT campaign FROM (SELECT campaign, day, impressions AS i, clicks AS c, spend AS s FROM spent
  UNION ALL SELECT campaign, day, -impressions, -clicks, -spend FROM folded
  UNION ALL SELECT campaign, day, -(kind = 1), -(kind = 2), -(CASE kind WHEN 2 THEN price ELSE 0 END) FROM raw)
GROUP BY campaign, day HAVING sum(i) <> 0 OR sum(c) <> 0 OR sum(s) <> 0 LIMIT 1`

// Check reads and checks a whole file of events of a backend database. Errors: fault.Corrupt if it
// is damaged, and those of Open and Claim.
func Check(ctx context.Context, path, database string) (err error) {
	s, err := Open(ctx, path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if err := s.Claim(ctx, database); err != nil {
		return err
	}
	err = s.read(ctx, "check", "PRAGMA integrity_check", func(st *zs.Stmt) error {
		if text := st.ColumnText(0); text != "ok" {
			return damage(path, text)
		}
		return nil
	})
	if err == nil {
		err = s.read(ctx, "check", unequal, func(st *zs.Stmt) error {
			return damage(path, "the sums of campaign "+st.ColumnText(0)+" are not those of its events")
		})
	}
	return err
}

func damage(path, what string) error {
	return fault.Newf(fault.Corrupt, "sqlite: check", "%s is damaged: %s", path, what)
}

// Of returns the id of the backend database that a file's events belong to, or "" if no database
// has claimed them. Errors: those of Open.
func Of(ctx context.Context, path string) (database string, err error) {
	s, err := Open(ctx, path)
	if err != nil {
		return "", err
	}
	err = s.read(ctx, "read", "SELECT database FROM horizon", func(st *zs.Stmt) error {
		database = st.ColumnText(0)
		return nil
	})
	return database, errors.Join(err, s.Close())
}
