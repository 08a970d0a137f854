package postgres

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"adshard/backend"
	"adshard/backend/upsert"
	"adshard/backend/waiting"
	"adshard/fault"
)

// Store is a backend.Store in a PostgreSQL database. It is safe for use by several
// goroutines.
type Store struct {
	name    string // for messages, without secrets
	id      string // of the database
	options Options
	limits  upsert.Limits
	pool    *pgxpool.Pool
	waiter  waiting.Waiter
	rekeyed int    // keywords and negatives that were removed by Open
	replica *Store // for FillSnapshot, or nil if there is none

	listening sync.Once
	ctx       context.Context // ended by Close
	end       context.CancelFunc
	work      sync.WaitGroup // the listener
	once      sync.Once
}

var (
	_ backend.Replicated = (*Store)(nil)
	_ backend.Served     = (*Store)(nil)
)

// Open opens the database at url (postgres://…) and brings its schema to this program's version. Errors: fault.Invalid
// for a wrong URL; fault.NotFound if there is no schema and Create is not set; fault.Version for a schema of a newer
// program or an old server; fault.Conflict for an unfinished database (backend.Unfinished); fault.Unavailable if there
// is no server that can be written to, or no permission.
func Open(ctx context.Context, url string, o Options) (*Store, error) {
	url, replica, err := withoutReplica(url)
	if err != nil {
		return nil, err
	}
	cfg, name, err := parse(url)
	if err != nil {
		return nil, err
	}
	o = o.withDefaults()
	s := &Store{name: name, options: o, limits: ordinary()}
	cfg.AfterConnect = s.connected
	if s.pool, err = pgxpool.NewWithConfig(ctx, cfg); err != nil {
		return nil, failed(ctx, "open", name, err)
	}
	s.ctx, s.end = context.WithCancel(context.Background())
	s.waiter.Newest, s.waiter.Poll = s.Newest, o.Poll
	err = s.prepare(ctx)
	if err == nil && replica != "" {
		err = s.openReplica(ctx, replica)
	}
	if err != nil {
		s.pool.Close()
		return nil, err
	}
	return s, nil
}

// prepare makes sure that the schema and the keys of keywords are up to date, and sets the database's id.
func (s *Store) prepare(ctx context.Context) error {
	c, err := s.acquire(ctx, "open")
	if err != nil {
		return err
	}
	err = prepare(ctx, c.Conn(), s.name, s.options)
	c.Release()
	if err == nil {
		s.id, err = s.ID(ctx)
	}
	if err == nil {
		err = s.rekey(ctx)
	}
	return err
}

// connected prepares a new connection. It returns an error if the connection leads to another database, which the URL
// may now name.
func (s *Store) connected(ctx context.Context, c *pgx.Conn) error {
	if err := prepareConn(ctx, c); err != nil || s.id == "" {
		return err
	}
	var id string
	if err := c.QueryRow(ctx, "SELECT database_id FROM adshard.state").Scan(&id); err != nil {
		return err
	}
	return s.same(id)
}

func (s *Store) same(id string) error {
	if id == s.id {
		return nil
	}
	return fault.Newf(fault.Unavailable, "postgres: connect", "database %s has a different id than before, %s and not %s:"+
		" nothing is read or written; restart this program if that is intended", s.name, id, s.id)
}

// Close closes all connections. All transactions and snapshots must have ended.
func (s *Store) Close() (err error) {
	s.once.Do(func() {
		s.end()
		s.waiter.Notify()
		s.work.Wait()
		closed := make(chan struct{})
		go func() {
			s.pool.Close()
			if s.replica != nil {
				s.replica.pool.Close()
			}
			close(closed)
		}()
		select {
		case <-closed:
		case <-time.After(s.options.BusyTimeout):
			err = fault.Newf(fault.Conflict, "postgres: close", "a transaction or snapshot is still open: end it first")
		}
	})
	return err
}

// acquire takes a connection from the pool.
func (s *Store) acquire(ctx context.Context, op string) (*pgxpool.Conn, error) {
	if err := ctx.Err(); err != nil {
		return nil, context.Cause(ctx)
	}
	if s.ctx.Err() != nil {
		return nil, fault.Newf(fault.Unavailable, "postgres: "+op, "database %s is closed", s.name)
	}
	c, err := s.pool.Acquire(ctx)
	return c, s.failed(ctx, op, err)
}

// read runs f on a connection. If the server has closed the connection since its last use, f is run once more on
// another one, since nothing was read.
func (s *Store) read(ctx context.Context, op string, f func(*pgx.Conn) error) error {
	for attempt := 0; ; attempt++ {
		c, err := s.acquire(ctx, op)
		if err != nil {
			return err
		}
		err = f(c.Conn())
		broken := c.Conn().IsClosed()
		c.Release()
		if err == nil || !broken || ctx.Err() != nil || attempt > 0 {
			return s.failed(ctx, op, err)
		}
		s.pool.Reset() // the other connections lead to the same server
	}
}

// write runs one statement as a transaction of its own, which waits no longer than the busy timeout. It scans the row
// that the statement returns if `to` is given.
func (s *Store) write(ctx context.Context, op, sql string, args []any, to ...any) error {
	c, err := s.acquire(ctx, op)
	if err != nil {
		return err
	}
	defer c.Release()
	err = pgx.BeginFunc(ctx, c, func(tx pgx.Tx) error {
		b := &pgx.Batch{}
		b.Queue(s.lockTimeout())
		b.Queue(sql, args...)
		r := tx.SendBatch(ctx, b)
		defer r.Close()
		if _, err := r.Exec(); err != nil {
			return err
		}
		if len(to) == 0 {
			_, err = r.Exec()
		} else {
			err = r.QueryRow().Scan(to...)
		}
		return errors.Join(err, r.Close())
	})
	if err == nil {
		s.waiter.Notify()
	}
	return s.failed(ctx, op, err)
}

func (s *Store) lockTimeout() string {
	return fmt.Sprintf("SET LOCAL lock_timeout = '%dms'", max(1, s.options.BusyTimeout.Milliseconds()))
}

// Health implements backend.Store.
func (s *Store) Health(ctx context.Context) error {
	id, err := s.ID(ctx)
	if err == nil {
		err = s.same(id)
	}
	if err != nil {
		return err
	}
	return s.read(ctx, "health", func(c *pgx.Conn) error {
		noted, err := makings(ctx, c)
		if err == nil {
			err = unfinished(s.name, s.options.Making.MayOpen(noted))
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
	var exhausted, to any // NULL leaves the value as it is
	if changed {
		to = int32(withheld)
	}
	if !m.ShareOnly {
		exhausted = m.Exhausted
	}
	var found bool
	err = s.write(ctx, "set budget", `WITH c AS (
  UPDATE adshard.campaign SET budget_exhausted = coalesce($2, budget_exhausted), withheld = coalesce($3, withheld)
  WHERE id = $1 AND (budget_exhausted <> $2 OR withheld <> $3))
SELECT EXISTS (SELECT FROM adshard.campaign WHERE id = $1)`, []any{int64(campaign), exhausted, to}, &found)
	if err == nil && !found {
		err = fault.Newf(fault.NotFound, "postgres: set budget", "there is no campaign %d", campaign)
	}
	return err
}

// Counts implements backend.Store.
func (s *Store) Counts(ctx context.Context) (n backend.Counts, err error) {
	err = s.read(ctx, "count", func(c *pgx.Conn) error {
		return c.QueryRow(ctx, `SELECT (SELECT count(*) FROM adshard.advertiser), (SELECT count(*) FROM adshard.campaign),
  (SELECT count(*) FROM adshard.ad_group), (SELECT count(*) FROM adshard.keyword),
  (SELECT count(*) FROM adshard.group_negative) + (SELECT count(*) FROM adshard.campaign_negative)
    + (SELECT count(*) FROM adshard.advertiser_negative),
  (SELECT count(*) FROM adshard.ad)`).Scan(&n.Advertisers, &n.Campaigns, &n.Groups, &n.Keywords, &n.Negatives, &n.Ads)
	})
	return n, err
}
