package sqlite

import (
	"context"

	"adshard/backend"
	"adshard/backend/upsert"
	"adshard/search/words"
)

// ordinary returns the limits of a store, which amount to some tens of megabytes.
func ordinary() upsert.Limits {
	return upsert.Limits{Queued: 2048, Cached: 100_000, Parents: 20_000}
}

// tx is a backend.Tx and also its own upsert.Backend.
type tx struct {
	upsert.Tx
	s     *Store
	c     *conn
	words string // the version of words that makes the keys
	// writing says that state.since was set.
	writing bool
	given   ids // the last ids given
	stored  ids // the last ids according to state
	sums    *sumWriter
}

// ids are the last ids of the entities whose ids come from counters in the table state.
type ids struct {
	keyword, negative, ad uint64
}

// Begin implements backend.Store. Transactions should be short (some ten thousand rows), since all other writers
// wait, including those of budget marks.
func (s *Store) Begin(ctx context.Context) (backend.Tx, error) {
	c, err := s.acquire(ctx)
	if err != nil {
		return nil, err
	}
	t := &tx{s: s, c: c, words: words.Version(), sums: newSumWriter(c)}
	t.Tx = upsert.Tx{Backend: t, Limits: s.limits, Op: "sqlite: write"}
	t.Keywords = newChildren(t, keywordSQL, &t.given.keyword)
	t.GroupNegatives = newChildren(t, groupNegativeSQL, &t.given.negative)
	t.CampaignNegatives = newChildren(t, campaignNegativeSQL, &t.given.negative)
	t.AdvertiserNegatives = newChildren(t, advertiserNegativeSQL, &t.given.negative)
	t.Ads = newChildren(t, adSQL, &t.given.ad)
	log, err := c.state()
	if err != nil {
		err = s.explain(ctx, "begin", c, err)
		s.release(c)
		return nil, err
	}
	t.stored, t.given = log.given, log.given
	return t, nil
}

// Explain implements upsert.Backend.
func (t *tx) Explain(ctx context.Context, err error) error {
	return t.s.explain(ctx, "write", t.c, err)
}

// write runs a writing statement. Before the first one it sets state.since for the triggers.
func (t *tx) write(sql string, args ...any) error {
	if err := t.announce(); err != nil {
		return err
	}
	return t.c.exec(sql, args...)
}

// Flushed implements upsert.Backend.
func (t *tx) Flushed(context.Context) error { return t.sums.flush() }

// Commit implements backend.Tx. It always ends the transaction. If it fails, nothing was written.
func (t *tx) Commit(ctx context.Context) error {
	err := t.Ready(ctx)
	if t.Done {
		return err
	}
	if err == nil {
		stop := t.c.until(ctx)
		err = t.commit(ctx)
		stop()
	}
	t.Done = true
	return t.s.written(ctx, "commit", t.c, err)
}

func (t *tx) commit(ctx context.Context) error {
	if err := t.Flush(ctx); err != nil {
		return err
	}
	if t.writing || t.given != t.stored {
		if err := t.noted(); err != nil {
			return err
		}
	}
	return t.c.exec("COMMIT")
}

// Rollback implements backend.Tx.
func (t *tx) Rollback() error {
	if t.Done {
		return nil
	}
	t.Done = true
	return failed(context.Background(), "rollback", t.s.path, t.s.release(t.c))
}
