package sqlite

import (
	"context"
	"math"
	"time"

	zs "zombiezen.com/go/sqlite"

	"adshard/backend"
)

// Changes implements backend.Feed.
func (s *Store) Changes(ctx context.Context, after backend.Position, limit int) ([]backend.Change, error) {
	if limit <= 0 {
		return nil, nil
	}
	var changes []backend.Change
	err := s.reading(ctx, "changes", func(c *conn) error {
		if err := c.follows(after); err != nil {
			return err
		}
		return c.query(selectChange+" WHERE clock > ? ORDER BY clock LIMIT ?", func(st *zs.Stmt) error {
			change, err := scanChange(st)
			changes = append(changes, change)
			return err
		}, min(after.Clock, math.MaxInt64), int64(limit))
	})
	if err != nil {
		return nil, err
	}
	return changes, nil
}

// reading is like read, but runs f in one read transaction.
func (s *Store) reading(ctx context.Context, op string, f func(*conn) error) error {
	return s.read(ctx, op, func(c *conn) error {
		return c.inRead(func() error { return f(c) })
	})
}

// Wait implements backend.Feed. A commit of this process wakes it at once. Commits of other processes are polled
// every Options.Poll, once for all callers.
func (s *Store) Wait(ctx context.Context, after backend.Position) error {
	return s.waiter.Wait(ctx, after)
}

// Hold implements backend.Feed. It accepts a clock that was already compacted; reading from there fails with
// fault.Stale.
func (s *Store) Hold(ctx context.Context, reader string, clock uint64) error {
	return s.write(ctx, "hold", func(c *conn) error { return c.hold(reader, clock) })
}

func (c *conn) hold(reader string, clock uint64) error {
	return c.exec(`INSERT INTO feed_reader (name, clock, held_at) VALUES (?1, ?2, ?3)
  ON CONFLICT (name) DO UPDATE SET clock = ?2, held_at = ?3`, reader, min(clock, math.MaxInt64), time.Now().UnixNano())
}

// Release implements backend.Feed.
func (s *Store) Release(ctx context.Context, reader string) error {
	return s.write(ctx, "release", func(c *conn) error {
		return c.exec("DELETE FROM feed_reader WHERE name = ?", reader)
	})
}

// Compact implements backend.Feed.
func (s *Store) Compact(ctx context.Context, upTo uint64, idle time.Duration) (int, error) {
	return s.compact(ctx, upTo, idle, func(*conn) error { return nil })
}

// CompactIf implements backend.Store.
func (s *Store) CompactIf(ctx context.Context, reader string, clock uint64, idle time.Duration, guard string, was []byte) (int, error) {
	return s.compact(ctx, clock, idle, func(c *conn) error {
		if err := c.expect(guard, was); err != nil {
			return err
		}
		return c.hold(reader, clock)
	})
}

// compact removes changes that no reader needs. It calls first before, in the same transaction.
func (s *Store) compact(ctx context.Context, upTo uint64, idle time.Duration, first func(*conn) error) (int, error) {
	since := int64(math.MinInt64)
	if idle > 0 {
		since = time.Now().Add(-idle).UnixNano()
	}
	// An entry may leave the log only when it is no longer needed to tell a change from damage.
	summed, err := s.sumOthers(ctx)
	if err != nil {
		return 0, err
	}
	removed := 0
	err = s.write(ctx, "compact", func(c *conn) error {
		if err := first(c); err != nil {
			return err
		}
		end, err := c.number("SELECT min(?1, coalesce(min(clock), ?1)) FROM feed_reader WHERE held_at >= ?2", min(upTo, summed), since)
		if err == nil {
			err = c.exec("DELETE FROM change_log WHERE clock <= ?", end)
		}
		removed = c.Conn.Changes()
		return err
	})
	return removed, err
}
