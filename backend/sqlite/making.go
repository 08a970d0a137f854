package sqlite

import (
	"context"
	"errors"
	"fmt"
	"time"

	zs "zombiezen.com/go/sqlite"

	"adshard/backend"
	"adshard/fault"
)

// createUnfinished creates the table of the commands that are making the database. A whole database does not have this
// table, so older programs need not know it.
const createUnfinished = `CREATE TABLE unfinished (maker TEXT NOT NULL, source TEXT NOT NULL, advice TEXT NOT NULL, since INTEGER NOT NULL,
  PRIMARY KEY (maker, source)) STRICT, WITHOUT ROWID`

// unfinished returns an error of kind fault.Conflict around err, which says what is not finished, or nil if err is
// nil.
func unfinished(path string, err error) error {
	if err == nil {
		return nil
	}
	return fault.Newf(fault.Conflict, "sqlite: open", "database %s is not whole, and is not opened: %w", path, err)
}

// begin notes o.Making in a database that is new or unfinished.
func begin(ctx context.Context, path string, o Options) error {
	if o.Making.By == "" {
		return nil
	}
	c, err := connect(path, o.BusyTimeout)
	if err != nil {
		return failed(ctx, "open", path, err)
	}
	defer c.Close()
	defer c.until(ctx)()
	err = c.inWrite(func() error {
		tables, err := c.number("SELECT count(*) FROM sqlite_schema")
		if err != nil {
			return err
		}
		noted, err := c.makings()
		if err != nil || tables > 0 && len(noted) == 0 {
			return err
		}
		return c.note(path, o.Making, noted)
	})
	if err == nil {
		o.step()
	}
	return describe(ctx, "open", path, err)
}

// inWrite calls f in a write transaction.
func (c *conn) inWrite(f func() error) error {
	if err := c.exec("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	if err := f(); err != nil {
		return errors.Join(err, c.exec("ROLLBACK"))
	}
	return c.exec("COMMIT")
}

// note adds a making to those that are noted, in the open transaction.
func (c *conn) note(path string, m backend.Making, noted []backend.Making) error {
	if err := unfinished(path, m.MayOpen(noted)); err != nil {
		return err
	}
	if len(noted) == 0 {
		if err := c.exec(createUnfinished); err != nil {
			return err
		}
		// The first migration sets this mark, too. With it the file is already known as a database of this program.
		if err := c.exec(fmt.Sprintf("PRAGMA application_id = %d", applicationID)); err != nil {
			return err
		}
	}
	return c.exec("INSERT OR IGNORE INTO unfinished (maker, source, advice, since) VALUES (?, ?, ?, ?)",
		m.By, m.Of, m.Do, time.Now().Unix())
}

// makings returns the commands that have not finished making the database.
func (c *conn) makings() (list []backend.Making, err error) {
	present, err := c.number("SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = 'unfinished'")
	if err != nil || present == 0 {
		return nil, err
	}
	err = c.query("SELECT maker, source, advice, since FROM unfinished ORDER BY since, maker, source", func(st *zs.Stmt) error {
		list = append(list, backend.Making{
			By: st.ColumnText(0), Of: st.ColumnText(1), Do: st.ColumnText(2), Since: time.Unix(st.ColumnInt64(3), 0),
		})
		return nil
	})
	return list, err
}

// Mark implements backend.Store.
func (s *Store) Mark(ctx context.Context, m backend.Making) error {
	return s.write(ctx, "mark", func(c *conn) error {
		noted, err := c.makings()
		if err == nil {
			err = c.note(s.path, m, noted)
		}
		return err
	})
}

// Finish implements backend.Store.
func (s *Store) Finish(ctx context.Context, m backend.Making) error {
	return s.write(ctx, "finish", func(c *conn) error {
		noted, err := c.makings()
		if err != nil || len(noted) == 0 {
			return err
		}
		if err = c.exec("DELETE FROM unfinished WHERE maker = ? AND source = ?", m.By, m.Of); err != nil {
			return err
		}
		left, err := c.number("SELECT count(*) FROM unfinished")
		if err == nil && left == 0 {
			err = c.exec("DROP TABLE unfinished")
		}
		return err
	})
}

// unfinished reports the commands that have not finished making the database.
func (k *checking) unfinished() error {
	noted, err := k.c.makings()
	if len(noted) > 0 {
		k.problem("%v", &backend.Unfinished{Makings: noted})
	}
	return err
}
