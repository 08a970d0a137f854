package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"adshard/backend"
	"adshard/backend/upsert"
	"adshard/fault"
)

// endTime is how long ending a transaction may take before its connection is
// dropped.
const endTime = 10 * time.Second

// limits bound what a transaction keeps in memory.
type limits struct {
	// queued is how many changed rows of one table are written together.
	queued int
	// cached is how many rows are cached before the cache is emptied.
	cached int
	// parents is the same for advertisers, campaigns and groups each.
	parents int
}

// ordinary are the limits of a store: some tens of megabytes.
func ordinary() limits { return limits{queued: 8192, cached: 100_000, parents: 20_000} }

// wholeShare is the share of the cache, one part in so many, that the rows of one
// owner may fill.
const wholeShare = 8

// tx is a backend.Tx. It caches the rows that it has read, so that an upsert is
// compared without the server, and queues what differs. It is used by one goroutine.
type tx struct {
	s *Store
	c *pgxpool.Conn
	// failure is the first error of the database; all later calls return it.
	failure error
	done    bool
	watch   backend.Watcher
	ids     map[string]*idBlock

	parentCache
	keywords    upsert.Table[upsert.Phrase, upsert.Keyword]
	negatives   upsert.Table[upsert.Phrase, upsert.Negative] // of groups
	campaignNeg upsert.Table[upsert.Phrase, upsert.Negative]
	ads         upsert.Table[upsert.Content, upsert.Ad]
}

// Begin implements backend.Store. Other writers wait only for the rows that the
// transaction changes.
func (s *Store) Begin(ctx context.Context) (backend.Tx, error) {
	for attempt := 0; ; attempt++ {
		c, err := s.acquire(ctx, "begin")
		if err != nil {
			return nil, err
		}
		_, err = c.Conn().PgConn().Exec(ctx, "BEGIN; "+s.lockTimeout()+"; SELECT adshard.begin_write()").ReadAll()
		if err == nil {
			return s.newTx(c), nil
		}
		broken := c.Conn().IsClosed()
		// begin_write holds a lock of the session for a moment, which must not stay.
		c.Conn().Close(context.WithoutCancel(ctx))
		c.Release()
		if !broken || ctx.Err() != nil || attempt > 0 {
			return nil, s.failed(ctx, "begin", err)
		}
		s.pool.Reset()
	}
}

func (s *Store) newTx(c *pgxpool.Conn) *tx {
	t := &tx{s: s, c: c, ids: make(map[string]*idBlock)}
	t.parentCache.forget()
	whole := s.limits.cached / wholeShare
	t.keywords = upsert.Table[upsert.Phrase, upsert.Keyword]{
		Rows: keywordRows{t}, Entity: backend.EntityKeyword, Next: t.next("keyword"),
		Report: t.report, Full: t.flush, Queued: s.limits.queued, Whole: whole,
	}
	t.negatives = upsert.Table[upsert.Phrase, upsert.Negative]{
		Rows: negativeRows{t, groupNegatives}, Entity: backend.EntityNegative, Next: t.next("negative"),
		Report: t.report, Full: t.flush, Queued: s.limits.queued, Whole: whole,
	}
	t.campaignNeg = t.negatives
	t.campaignNeg.Rows = negativeRows{t, campaignNegatives}
	t.ads = upsert.Table[upsert.Content, upsert.Ad]{
		Rows: adRows{t}, Entity: backend.EntityAd, Next: t.next("ad"),
		Report: t.report, Full: t.flush, Queued: s.limits.queued, Whole: whole,
	}
	return t
}

// ready returns an error if the transaction cannot continue.
func (t *tx) ready(ctx context.Context) error {
	if t.failure != nil {
		return t.failure
	}
	if t.done {
		return fault.Newf(fault.Conflict, "postgres: write", "the transaction has ended: begin another")
	}
	return ctx.Err()
}

// fail records an error of the database and gives it a kind.
func (t *tx) fail(ctx context.Context, err error) error {
	err = t.s.failed(ctx, "write", err)
	if t.failure == nil {
		t.failure = err
	}
	return err
}

// exec runs a writing statement.
func (t *tx) exec(ctx context.Context, sql string, args ...any) error {
	_, err := t.c.Exec(ctx, sql, args...)
	return err
}

// flush writes all that differs, owners first.
func (t *tx) flush(ctx context.Context) error {
	for _, f := range []func(context.Context) error{
		t.flushParents, t.keywords.Flush, t.negatives.Flush, t.campaignNeg.Flush, t.ads.Flush,
	} {
		if err := f(ctx); err != nil {
			return err
		}
	}
	return nil
}

// bound keeps the caches small.
func (t *tx) bound(ctx context.Context) error {
	parents := max(len(t.advertisers), len(t.campaigns), len(t.groups))
	rows := t.keywords.Size() + t.negatives.Size() + t.campaignNeg.Size() + t.ads.Size()
	if parents < t.s.limits.parents && rows < t.s.limits.cached {
		return nil
	}
	return t.flushAndForget(ctx)
}

func (t *tx) flushAndForget(ctx context.Context) error {
	if err := t.flush(ctx); err != nil {
		return err
	}
	t.parentCache.forget()
	t.keywords.Forget()
	t.negatives.Forget()
	t.campaignNeg.Forget()
	t.ads.Forget()
	return nil
}

// Commit implements backend.Tx. The transaction has ended afterwards in any case;
// if it failed, nothing was written, unless the connection was lost: the error
// says so.
func (t *tx) Commit(ctx context.Context) error {
	err := t.ready(ctx)
	if t.done {
		return err
	}
	t.done = true
	defer end(t.c)
	if err == nil {
		err = t.fail(ctx, t.flush(ctx))
	}
	if err != nil {
		return err
	}
	results, err := t.c.Conn().PgConn().Exec(ctx, t.gaveIDs()+"COMMIT").ReadAll()
	switch {
	case err == nil && results[len(results)-1].CommandTag.String() != "COMMIT":
		err = fault.Newf(fault.Internal, "postgres: commit", "the server answered %s", results[len(results)-1].CommandTag)
	case err != nil && t.c.Conn().IsClosed():
		err = fmt.Errorf("it is not known whether the transaction was committed: %w", err)
	}
	if err == nil {
		t.s.waiter.Notify()
	}
	return t.s.failed(ctx, "commit", err)
}

// gaveIDs is the statement that notes the ids of what groups and campaigns hold, if any
// were given.
func (t *tx) gaveIDs() string {
	if len(t.ids) == 0 {
		return ""
	}
	last := func(sequence string) (id uint64) {
		if b := t.ids[sequence]; b != nil {
			id = b.last
		}
		return id
	}
	return fmt.Sprintf("SELECT adshard.gave_ids(%d, %d, %d); ", last("keyword"), last("negative"), last("ad"))
}

// Rollback implements backend.Tx.
func (t *tx) Rollback() error {
	if !t.done {
		t.done = true
		end(t.c)
	}
	return nil
}

// idBlock is ids of one sequence that the transaction has taken.
type idBlock struct {
	left []uint64
	last uint64 // given; 0: none
	size int    // of the last one taken
}

// mostIDs is how many ids are taken at once, after fewer at first.
const mostIDs = 2048

// next returns the next id of a sequence, ascending.
func (t *tx) next(sequence string) func(context.Context) (uint64, error) {
	return func(ctx context.Context) (uint64, error) {
		b := t.ids[sequence]
		if b == nil {
			b = &idBlock{}
			t.ids[sequence] = b
		}
		if len(b.left) == 0 {
			b.size = min(max(1, 4*b.size), mostIDs)
			if err := t.c.QueryRow(ctx, "SELECT adshard.take_ids($1, $2)", sequence, b.size).Scan(&b.left); err != nil {
				return 0, err
			}
		}
		id := b.left[0]
		b.left, b.last = b.left[1:], id
		return id, nil
	}
}
