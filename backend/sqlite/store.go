package sqlite

import (
	"context"
	"path/filepath"
	"sync"
	"time"

	zs "zombiezen.com/go/sqlite"

	"adshard/backend"
	"adshard/backend/upsert"
	"adshard/backend/waiting"
	"adshard/fault"
	"adshard/internal/wait"
)

// Store is a backend.Store in one SQLite file. It is safe for use by several
// goroutines.
type Store struct {
	path    string
	options Options
	limits  upsert.Limits
	pool    *pool

	// turns holds one token. The holder of the token may write, and owns turn.
	turns chan struct{}
	turn  turn
	done  chan struct{} // closed by Close
	once  sync.Once

	waiter  waiting.Waiter
	rekeyed int // keywords and negatives that were removed by Open
}

var _ backend.Store = (*Store)(nil)

// Open opens the database at path and brings its schema and the keys of keywords to this program's version. Errors:
// fault.NotFound if it is missing and Create is not set; fault.Version for a database of a newer program;
// fault.Corrupt if the file is damaged or not a database of this program; fault.Conflict if it is unfinished
// (backend.Unfinished); fault.Locked; fault.NoSpace; fault.Unavailable if there is no permission.
func Open(ctx context.Context, path string, o Options) (*Store, error) {
	if path == "" {
		return nil, fault.Newf(fault.Invalid, "sqlite: open", "the path of the database is empty: name a file")
	}
	path, err := filepath.Abs(path) // so that no name has a special meaning for SQLite
	if err != nil {
		return nil, fault.New(fault.Unavailable, "sqlite: open", err)
	}
	o = o.withDefaults()
	if err := prepare(ctx, path, o); err != nil {
		return nil, err
	}
	p, err := newPool(path, o)
	if err != nil {
		return nil, describe(ctx, "open", path, err)
	}
	s := &Store{
		path: path, options: o, limits: ordinary(), pool: p, turns: make(chan struct{}, 1),
		done: make(chan struct{}),
	}
	s.waiter.Newest, s.waiter.Poll = s.Newest, o.Poll
	s.turns <- struct{}{}
	err = s.sumOlder(ctx)
	if err == nil && !o.Unfinished {
		err = s.rekey(ctx)
	}
	if err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// Close releases the file. All transactions and snapshots must have ended.
func (s *Store) Close() (err error) {
	s.once.Do(func() { err = s.close() })
	return err
}

func (s *Store) close() error {
	close(s.done)
	defer s.waiter.Notify()
	var open error
	select {
	case <-s.turns:
	case <-time.After(s.options.BusyTimeout):
		open = fault.Newf(fault.Conflict, "sqlite: close", "a transaction is still open: commit it or roll it back first")
	}
	// Closing the last connection copies the log into the database.
	if err := s.pool.end(); err != nil {
		return failed(context.Background(), "close", s.path, err)
	}
	return open
}

// acquire takes the writing connection and starts a write transaction.
func (s *Store) acquire(ctx context.Context) (*conn, error) {
	deadline := time.NewTimer(s.options.BusyTimeout)
	defer deadline.Stop()
	select {
	case <-s.turns:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case <-s.done:
		return nil, fault.Newf(fault.Unavailable, "sqlite: begin", "database %s is closed", s.path)
	case <-deadline.C:
		return nil, fault.Newf(fault.Locked, "sqlite: begin", "database %s: another transaction of this program is still writing, try again later", s.path)
	}
	c, err := s.pool.take(ctx, true)
	if err == nil {
		if err = s.begin(ctx, c, deadline.C); err != nil {
			err = s.explain(ctx, "begin", c, err)
			s.pool.discard(c)
		}
	}
	if err != nil {
		s.turns <- struct{}{}
		return nil, describe(ctx, "begin", s.path, err)
	}
	return c, nil
}

// turn holds the times of the last write transaction.
type turn struct {
	began, ended time.Time
}

const (
	// writerRetry is how often a writer tries to get the lock that another process holds.
	writerRetry = 2 * time.Millisecond
	// courtesy is how long the lock stays free after a long transaction, so that a writer of another process, which
	// tries every writerRetry, gets it: SQLite has no queue.
	courtesy = 3 * writerRetry
)

// begin itself waits for writers of other processes, since SQLite's waiting cannot be cancelled.
func (s *Store) begin(ctx context.Context, c *conn, timeout <-chan time.Time) error {
	if s.turn.ended.Sub(s.turn.began) > 4*courtesy {
		if err := wait.Sleep(ctx, courtesy-time.Since(s.turn.ended)); err != nil {
			return err
		}
	}
	for {
		err := c.exec("BEGIN IMMEDIATE")
		if err == nil {
			s.turn.began = time.Now()
		}
		if err == nil || !busy(err) {
			return err
		}
		select {
		case <-timeout:
			return err
		default:
		}
		if err := wait.Sleep(ctx, writerRetry); err != nil {
			return err
		}
	}
}

// release gives the writing connection back after rolling back an open transaction.
func (s *Store) release(c *conn) error {
	var err error
	if !c.AutocommitEnabled() {
		err = c.exec("ROLLBACK")
	}
	s.turn.ended = time.Now()
	if again := s.pool.give(c, true); err == nil {
		err = again
	}
	s.turns <- struct{}{}
	return err
}

// write runs f in a write transaction of its own.
func (s *Store) write(ctx context.Context, op string, f func(*conn) error) error {
	c, err := s.acquire(ctx)
	if err != nil {
		return err
	}
	stop := c.until(ctx)
	err = f(c)
	if err == nil {
		err = c.exec("COMMIT")
	}
	stop()
	return s.written(ctx, op, c, err)
}

// written ends a write transaction with the result err so far. A commit is acknowledged only if it went into the
// database's file.
func (s *Store) written(ctx context.Context, op string, c *conn, err error) error {
	if err != nil {
		err = s.explain(ctx, op, c, err)
	} else if err = s.pool.check(c); err == nil {
		err = c.sameID()
	}
	if again := s.release(c); err == nil && again != nil {
		err = failed(ctx, op, s.path, again)
	}
	if err == nil {
		s.waiter.Notify()
	}
	return err
}

// explain returns an error of a connection with a kind. If the file was lost, it returns that error instead of those
// that follow from it.
func (s *Store) explain(ctx context.Context, op string, c *conn, err error) error {
	if err == nil {
		return nil
	}
	if lost := s.pool.check(c); lost != nil && ctx.Err() == nil {
		return lost
	}
	return describe(ctx, op, s.path, err)
}

// describe is like failed, for errors that may already have a kind.
func describe(ctx context.Context, op, path string, err error) error {
	if err == nil || fault.KindOf(err) != fault.Internal {
		return err
	}
	return failed(ctx, op, path, err)
}

// read runs f on a connection for reading.
func (s *Store) read(ctx context.Context, op string, f func(*conn) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	c, err := s.pool.take(ctx, false)
	if err != nil {
		return describe(ctx, op, s.path, err)
	}
	err = s.explain(ctx, op, c, f(c))
	if again := s.pool.give(c, false); err == nil {
		err = failed(ctx, op, s.path, again)
	}
	return err
}

// Health implements backend.Store.
func (s *Store) Health(ctx context.Context) error {
	return s.read(ctx, "health", func(c *conn) error {
		if err := c.sameID(); err != nil {
			return err
		}
		noted, err := c.makings()
		if err == nil {
			err = s.options.admit(s.path, noted)
		}
		return err
	})
}

// SetBudget implements backend.Store.
func (s *Store) SetBudget(ctx context.Context, campaign uint64, m backend.BudgetMark) error {
	withheld, changed, err := m.Withheld()
	if err != nil {
		return err
	}
	return s.write(ctx, "set budget", func(c *conn) error {
		found, before := false, budgetMark{}
		err := c.query("SELECT budget_exhausted, withheld FROM campaign WHERE id = ?", func(st *zs.Stmt) error {
			found, before = true, budgetMark{st.ColumnBool(0), uint32(st.ColumnInt64(1))}
			return nil
		}, campaign)
		now := budgetMark{m.Exhausted, before.withheld}
		if m.ShareOnly {
			now.exhausted = before.exhausted
		}
		if changed {
			now.withheld = withheld
		}
		if err == nil && !found {
			err = fault.Newf(fault.NotFound, "sqlite: set budget", "there is no campaign %d", campaign)
		}
		if err != nil || before == now {
			return err
		}
		w := newSumWriter(c)
		if _, err := c.alignClock(); err != nil {
			return err
		}
		err = w.change(backend.KindCampaign, campaign, w.h.budget(campaign, now)-w.h.budget(campaign, before))
		if err == nil {
			err = c.exec("UPDATE campaign SET budget_exhausted = ?, withheld = ? WHERE id = ?", now.exhausted, int64(now.withheld), campaign)
		}
		if err == nil {
			err = w.flush()
		}
		return err
	})
}

// Counts implements backend.Store.
func (s *Store) Counts(ctx context.Context) (backend.Counts, error) {
	var n backend.Counts
	err := s.read(ctx, "count", func(c *conn) error {
		return c.query(`SELECT (SELECT count(*) FROM advertiser), (SELECT count(*) FROM campaign), (SELECT count(*) FROM ad_group),
  (SELECT count(*) FROM keyword), (SELECT count(*) FROM group_negative) + (SELECT count(*) FROM campaign_negative) + (SELECT count(*) FROM advertiser_negative),
  (SELECT count(*) FROM ad)`, func(st *zs.Stmt) error {
			for i, to := range []*uint64{&n.Advertisers, &n.Campaigns, &n.Groups, &n.Keywords, &n.Negatives, &n.Ads} {
				*to = uint64(st.ColumnInt64(i))
			}
			return nil
		})
	})
	return n, err
}
