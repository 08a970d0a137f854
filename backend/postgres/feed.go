package postgres

import (
	"bytes"
	"context"
	"math"
	"time"

	"github.com/jackc/pgx/v5"

	"adshard/backend"
	"adshard/fault"
)

// ID implements backend.Feed.
func (s *Store) ID(ctx context.Context) (id string, err error) {
	err = s.read(ctx, "id", func(c *pgx.Conn) error {
		return c.QueryRow(ctx, "SELECT database_id FROM adshard.state").Scan(&id)
	})
	return id, err
}

// Newest implements backend.Feed.
func (s *Store) Newest(ctx context.Context) (p backend.Position, err error) {
	err = s.read(ctx, "newest change", func(c *pgx.Conn) (err error) {
		p, err = newest(c.QueryRow(ctx, selectNewest))
		return err
	})
	return p, err
}

const selectNewest = "SELECT clock, mark FROM adshard.state"

func newest(row pgx.Row) (backend.Position, error) {
	var clock, mark int64
	err := row.Scan(&clock, &mark)
	return backend.Position{Clock: uint64(clock), Mark: uint64(mark)}, err
}

// excerpt is a part of the log, read at a single moment.
type excerpt struct {
	end     backend.Position // the newest compacted change
	here    backend.Position // the change at the requested clock, or zero if there is none
	changes []backend.Change // the changes after that clock
}

// The result has up to one row for each change or, if there are no changes, one row with only the positions.
const selectExcerpt = `SELECT c.clock, c.mark, coalesce(h.clock, 0), coalesce(h.mark, 0),
  coalesce(l.clock, 0), coalesce(l.mark, 0), coalesce(l.kind, 0), coalesce(l.id, 0), coalesce(l.advertiser_id, 0),
  coalesce(l.campaign_id, 0), coalesce(l.removed, false)
  FROM adshard.compacted c LEFT JOIN adshard.change_log h ON h.clock = $1
  LEFT JOIN LATERAL (SELECT * FROM adshard.change_log WHERE clock > $1 ORDER BY clock LIMIT $2) l ON true
  ORDER BY l.clock`

// excerpt reads up to `limit` changes after a clock.
func (s *Store) excerpt(ctx context.Context, op string, clock uint64, limit int) (e excerpt, err error) {
	err = s.read(ctx, op, func(c *pgx.Conn) error {
		e = excerpt{}
		rows, err := c.Query(ctx, selectExcerpt, int64(min(clock, math.MaxInt64)), limit)
		if err != nil {
			return err
		}
		var n [10]int64
		var removed bool
		_, err = pgx.ForEachRow(rows, []any{&n[0], &n[1], &n[2], &n[3], &n[4], &n[5], &n[6], &n[7], &n[8], &n[9], &removed}, func() error {
			e.end = backend.Position{Clock: uint64(n[0]), Mark: uint64(n[1])}
			e.here = backend.Position{Clock: uint64(n[2]), Mark: uint64(n[3])}
			if n[4] != 0 {
				e.changes = append(e.changes, backend.Change{
					Clock: uint64(n[4]), Mark: uint64(n[5]), Kind: backend.Kind(n[6]), ID: uint64(n[7]),
					AdvertiserID: uint64(n[8]), CampaignID: uint64(n[9]), Removed: removed,
				})
			}
			return nil
		})
		return err
	})
	if clock > math.MaxInt64 {
		e.here = backend.Position{}
	}
	return e, err
}

// at returns the position at a clock, or the zero Position if there is no such change. It returns fault.Stale if the
// change was compacted.
func (e *excerpt) at(clock uint64) (backend.Position, error) {
	switch {
	case clock < e.end.Clock:
		return backend.Position{}, fault.Newf(fault.Stale, "postgres: changes",
			"the changes after clock %d are gone, since those up to %d were compacted: start again from a snapshot", clock, e.end.Clock)
	case clock == e.end.Clock:
		return e.end, nil
	}
	return e.here, nil
}

// follows returns an error unless a reader that has read the log up to p can continue here.
func (e *excerpt) follows(p backend.Position) error {
	const op = "postgres: changes"
	here, err := e.at(p.Clock)
	switch {
	case err != nil || p.Mark == 0:
		return err
	case here.Clock != p.Clock:
		return fault.Newf(fault.Conflict, op, "the log has no change at clock %d: the position is of another history of this database", p.Clock)
	case here.Mark != p.Mark:
		return fault.Newf(fault.Conflict, op, "the change at clock %d has mark %x, not %x: the position is of another history of this database",
			p.Clock, here.Mark, p.Mark)
	}
	return nil
}

// At implements backend.Feed.
func (s *Store) At(ctx context.Context, clock uint64) (backend.Position, error) {
	e, err := s.excerpt(ctx, "position", clock, 0)
	if err != nil {
		return backend.Position{}, err
	}
	p, err := e.at(clock)
	if err == nil && p.Clock != clock {
		err = fault.Newf(fault.NotFound, "postgres: position", "there is no change at clock %d yet", clock)
	}
	return p, err
}

// Changes implements backend.Feed.
func (s *Store) Changes(ctx context.Context, after backend.Position, limit int) ([]backend.Change, error) {
	if limit <= 0 {
		return nil, nil
	}
	e, err := s.excerpt(ctx, "changes", after.Clock, limit)
	if err == nil {
		err = e.follows(after)
	}
	if err != nil {
		return nil, err
	}
	return e.changes, nil
}

// Hold implements backend.Feed. It accepts a clock that was already compacted; reading from there fails with
// fault.Stale.
func (s *Store) Hold(ctx context.Context, reader string, clock uint64) error {
	return s.write(ctx, "hold", hold, []any{reader, int64(min(clock, math.MaxInt64))})
}

const hold = `INSERT INTO adshard.feed_reader (name, clock, held_at) VALUES ($1, $2, clock_timestamp())
  ON CONFLICT (name) DO UPDATE SET clock = EXCLUDED.clock, held_at = EXCLUDED.held_at`

// Release implements backend.Feed.
func (s *Store) Release(ctx context.Context, reader string) error {
	return s.write(ctx, "release", "DELETE FROM adshard.feed_reader WHERE name = $1", []any{reader})
}

// Compact implements backend.Feed. The server's clock decides which readers are idle.
func (s *Store) Compact(ctx context.Context, upTo uint64, idle time.Duration) (removed int, err error) {
	err = s.write(ctx, "compact", compact, []any{int64(min(upTo, math.MaxInt64)), idle.Seconds()}, &removed)
	return removed, err
}

const compact = `WITH gone AS (DELETE FROM adshard.change_log WHERE clock <= (
  SELECT least($1, min(clock)) FROM adshard.feed_reader
    WHERE $2::float8 <= 0 OR held_at >= clock_timestamp() - make_interval(secs => $2)) RETURNING clock)
SELECT count(*) FROM gone`

// CompactIf implements backend.Store.
func (s *Store) CompactIf(ctx context.Context, reader string, clock uint64, idle time.Duration, guard string, was []byte) (removed int, err error) {
	const op = "compact"
	c, err := s.acquire(ctx, op)
	if err != nil {
		return 0, err
	}
	defer c.Release()
	upTo := int64(min(clock, math.MaxInt64))
	err = pgx.BeginFunc(ctx, c, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, s.lockTimeout()); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, lockControl); err != nil {
			return err
		}
		now, err := control(ctx, tx, guard)
		if err != nil {
			return err
		}
		if !bytes.Equal(now, was) || (now == nil) != (was == nil) {
			return fault.Newf(fault.Conflict, "postgres: compact", "nothing is changed, since %s has a different value than expected", guard)
		}
		if _, err := tx.Exec(ctx, hold, reader, upTo); err != nil {
			return err
		}
		return tx.QueryRow(ctx, compact, upTo, idle.Seconds()).Scan(&removed)
	})
	return removed, s.failed(ctx, op, err)
}
