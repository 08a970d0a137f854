package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"adshard/backend"
	"adshard/fault"
)

// createUnfinished creates the table of the commands that are making the database. A whole database does not have this
// table, so older programs need not know it. Every role may read it, to see why it is refused.
const createUnfinished = `CREATE TABLE IF NOT EXISTS adshard.unfinished (maker text NOT NULL, source text NOT NULL, advice text NOT NULL,
  since timestamptz NOT NULL, PRIMARY KEY (maker, source))`

// lockMaking is SQL that lets only one transaction at a time change the table unfinished. prepare takes the same
// lock.
const lockMaking = "SELECT pg_advisory_xact_lock(1097093992, 3)"

// unfinished returns an error of kind fault.Conflict around err, which says what is not finished, or nil if err is
// nil.
func unfinished(name string, err error) error {
	if err == nil {
		return nil
	}
	return fault.Newf(fault.Conflict, "postgres: open", "database %s is not whole, and is not opened: %w", name, err)
}

// makings returns the commands that have not finished making the database.
func makings(ctx context.Context, c interface {
	querier
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}) ([]backend.Making, error) {
	var present bool
	err := c.QueryRow(ctx, "SELECT to_regclass('adshard.unfinished') IS NOT NULL").Scan(&present)
	if err != nil || !present {
		return nil, err
	}
	rows, _ := c.Query(ctx, "SELECT maker, source, advice, since FROM adshard.unfinished ORDER BY since, maker, source")
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (m backend.Making, err error) {
		err = row.Scan(&m.By, &m.Of, &m.Do, &m.Since)
		return m, err
	})
	var answer *pgconn.PgError
	if errors.As(err, &answer) && answer.Code == "42P01" { // the table was dropped just now
		return nil, nil
	}
	return list, err
}

// note adds m to the noted makings. The caller holds lockMaking.
func note(ctx context.Context, tx pgx.Tx, m backend.Making) error {
	for _, sql := range []string{createUnfinished, "GRANT SELECT ON adshard.unfinished TO PUBLIC"} {
		if _, err := tx.Exec(ctx, sql); err != nil {
			return err
		}
	}
	_, err := tx.Exec(ctx, "INSERT INTO adshard.unfinished (maker, source, advice, since) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING",
		m.By, m.Of, m.Do, time.Now())
	return err
}

// Mark implements backend.Store.
func (s *Store) Mark(ctx context.Context, m backend.Making) error {
	return s.making(ctx, "mark", func(tx pgx.Tx, noted []backend.Making) error {
		if err := unfinished(s.name, m.MayOpen(noted)); err != nil {
			return err
		}
		return note(ctx, tx, m)
	})
}

// Finish implements backend.Store.
func (s *Store) Finish(ctx context.Context, m backend.Making) error {
	return s.making(ctx, "finish", func(tx pgx.Tx, noted []backend.Making) error {
		if len(noted) == 0 {
			return nil
		}
		var left int
		if _, err := tx.Exec(ctx, "DELETE FROM adshard.unfinished WHERE maker = $1 AND source = $2", m.By, m.Of); err != nil {
			return err
		}
		err := tx.QueryRow(ctx, "SELECT count(*) FROM adshard.unfinished").Scan(&left)
		if err == nil && left == 0 {
			_, err = tx.Exec(ctx, "DROP TABLE adshard.unfinished")
		}
		return err
	})
}

// making calls f with the noted makings, in a transaction that holds lockMaking.
func (s *Store) making(ctx context.Context, op string, f func(pgx.Tx, []backend.Making) error) error {
	c, err := s.acquire(ctx, op)
	if err != nil {
		return err
	}
	defer c.Release()
	return s.failed(ctx, op, pgx.BeginFunc(ctx, c, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, lockMaking); err != nil {
			return err
		}
		noted, err := makings(ctx, tx)
		if err == nil {
			err = f(tx, noted)
		}
		return err
	}))
}
