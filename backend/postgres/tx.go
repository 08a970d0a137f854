package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"adshard/backend"
	"adshard/backend/upsert"
	"adshard/fault"
	"adshard/search/words"
)

// endTime is how long ending a transaction may take before its connection is dropped.
const endTime = 10 * time.Second

// ordinary returns the limits of a store, which amount to some tens of megabytes.
func ordinary() upsert.Limits {
	return upsert.Limits{Queued: 8192, Cached: 100_000, Parents: 20_000}
}

// tx is a backend.Tx and also its own upsert.Backend.
type tx struct {
	upsert.Tx
	s   *Store
	c   *pgxpool.Conn
	ids map[string]*idBlock
	// fresh are new groups that have not been written yet.
	fresh []*upsert.GroupRow
}

// Begin implements backend.Store. Other writers wait only for rows that the transaction changes.
func (s *Store) Begin(ctx context.Context) (backend.Tx, error) {
	t, err := s.begin(ctx, words.Version(), s.limits)
	if err != nil {
		return nil, err
	}
	return t, nil
}

// begin is like Begin, for a writer whose keys are of a version of words.
func (s *Store) begin(ctx context.Context, version string, limits upsert.Limits) (*tx, error) {
	sql := "BEGIN; " + s.lockTimeout() + "; SELECT set_config('adshard.words', '" + version + "', true); SELECT adshard.begin_write()"
	for attempt := 0; ; attempt++ {
		c, err := s.acquire(ctx, "begin")
		if err != nil {
			return nil, err
		}
		_, err = c.Conn().PgConn().Exec(ctx, sql).ReadAll()
		if err == nil {
			return s.newTx(c, limits), nil
		}
		broken := c.Conn().IsClosed()
		// begin_write holds a lock of the session for a moment, which must not outlast the failure.
		c.Conn().Close(context.WithoutCancel(ctx))
		c.Release()
		if !broken || ctx.Err() != nil || attempt > 0 {
			return nil, s.failed(ctx, "begin", err)
		}
		s.pool.Reset()
	}
}

func (s *Store) newTx(c *pgxpool.Conn, limits upsert.Limits) *tx {
	t := &tx{s: s, c: c, ids: make(map[string]*idBlock)}
	t.Tx = upsert.Tx{Backend: t, Limits: limits, Op: "postgres: write"}
	t.Keywords = newTable(t, backend.EntityKeyword, keywordRows{t})
	t.GroupNegatives = newTable(t, backend.EntityNegative, negativeRows{t, groupNegatives})
	t.CampaignNegatives = newTable(t, backend.EntityNegative, negativeRows{t, campaignNegatives})
	t.AdvertiserNegatives = newTable(t, backend.EntityNegative, negativeRows{t, advertiserNegatives})
	t.Ads = newTable(t, backend.EntityAd, adRows{t})
	return t
}

func newTable[K, V comparable](t *tx, entity backend.Entity, rows upsert.Rows[K, V]) *upsert.Table[K, V] {
	return &upsert.Table[K, V]{
		Rows: rows, Entity: entity, Next: t.next(entity.String()), Report: t.Report, Full: t.Flush,
		Queued: t.Limits.Queued, Whole: t.Limits.Whole(),
	}
}

// Explain implements upsert.Backend.
func (t *tx) Explain(ctx context.Context, err error) error { return t.s.failed(ctx, "write", err) }

// exec runs a writing statement.
func (t *tx) exec(ctx context.Context, sql string, args ...any) error {
	_, err := t.c.Exec(ctx, sql, args...)
	return err
}

// Flushed implements upsert.Backend.
func (t *tx) Flushed(context.Context) error { return nil }

// Commit implements backend.Tx. It always ends the transaction. If it fails, nothing was written unless the
// connection was lost, which the error says.
func (t *tx) Commit(ctx context.Context) error {
	err := t.Ready(ctx)
	if t.Done {
		return err
	}
	if err == nil {
		err = t.Fail(ctx, t.Flush(ctx))
	}
	t.Done = true
	defer end(t.c)
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

// gaveIDs returns the statement that records the ids given to keywords, negatives and ads, or "" if none were given.
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
	if !t.Done {
		t.Done = true
		end(t.c)
	}
	return nil
}

// idBlock holds ids of one sequence that the transaction has taken.
type idBlock struct {
	left []uint64
	last uint64 // the last id given, or 0
	size int    // of the last block taken
}

// mostIDs is the most ids that are taken at once. The first blocks are smaller.
const mostIDs = 2048

// next returns a function that returns the next id of a sequence, in ascending order.
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
