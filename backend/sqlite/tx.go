package sqlite

import (
	"context"
	"math"

	"adshard/backend"
	"adshard/backend/upsert"
	"adshard/fault"
)

// limits bound what a transaction keeps in memory.
type limits struct {
	// queued is how many changed rows of one table are buffered before they are
	// written together.
	queued int
	// cached is how many rows are cached before the cache is emptied.
	cached int
	// parents is the same for advertisers, campaigns and groups each.
	parents int
}

// ordinary are the limits of a store: some tens of megabytes.
func ordinary() limits { return limits{queued: 2048, cached: 100_000, parents: 20_000} }

// tx is a backend.Tx. It caches the rows that it has read, so that an upsert is
// compared without the database, and buffers what differs. It is used by one goroutine.
type tx struct {
	s *Store
	c *conn
	// failure is the first error of the database; all later calls return it.
	failure error
	done    bool
	// writing says that state.since was set.
	writing bool
	watch   backend.Watcher
	given   ids // the last ids given
	stored  ids // as state has them
	sums    *sumWriter
	// owners are the advertisers of campaigns; empty are the campaigns created in
	// this transaction, all of whose groups are cached.
	owners map[uint64]uint64
	empty  map[uint64]bool

	advertisers    map[string]*advertiserRow
	advertiserByID map[uint64]*advertiserRow
	campaigns      map[ownedName]*campaignRow
	groups         map[ownedName]*groupRow
	// Those that may differ from the database, in order.
	dirtyAds    []*advertiserRow
	dirtyCamps  []*campaignRow
	dirtyGroups []*groupRow

	keywords    *upsert.Table[upsert.Phrase, upsert.Keyword]
	negatives   *upsert.Table[upsert.Phrase, upsert.Negative] // of groups
	campaignNeg *upsert.Table[upsert.Phrase, upsert.Negative]
	ads         *upsert.Table[upsert.Content, upsert.Ad]
}

// ids are the counters of the entities that have no table key of their own.
type ids struct {
	keyword, negative, ad uint64
}

// ownedName is the natural key of a campaign or group.
type ownedName struct {
	owner uint64
	name  string
}

// Begin implements backend.Store. Keep transactions short (some ten thousand
// rows): all other writers wait, the budget's marks too.
func (s *Store) Begin(ctx context.Context) (backend.Tx, error) {
	c, err := s.acquire(ctx)
	if err != nil {
		return nil, err
	}
	t := &tx{s: s, c: c, sums: newSumWriter(c)}
	t.keywords = newChildren(t, keywordSQL, &t.given.keyword)
	t.negatives = newChildren(t, groupNegativeSQL, &t.given.negative)
	t.campaignNeg = newChildren(t, campaignNegativeSQL, &t.given.negative)
	t.ads = newChildren(t, adSQL, &t.given.ad)
	t.forget()
	log, err := c.state()
	if err != nil {
		err = s.explain(ctx, "begin", c, err)
		s.release(c)
		return nil, err
	}
	t.stored, t.given = log.given, log.given
	return t, nil
}

// forget empties the caches; what was changed must be written before.
func (t *tx) forget() {
	t.advertisers = make(map[string]*advertiserRow)
	t.advertiserByID = make(map[uint64]*advertiserRow)
	t.campaigns = make(map[ownedName]*campaignRow)
	t.groups = make(map[ownedName]*groupRow)
	t.owners, t.empty = make(map[uint64]uint64), make(map[uint64]bool)
	t.keywords.Forget()
	t.negatives.Forget()
	t.campaignNeg.Forget()
	t.ads.Forget()
}

// ready returns an error if the transaction cannot continue.
func (t *tx) ready(ctx context.Context) error {
	if t.failure != nil {
		return t.failure
	}
	if t.done {
		return fault.Newf(fault.Conflict, "sqlite: write", "the transaction has ended: begin another")
	}
	return ctx.Err()
}

// fail records an error of the database and gives it a kind.
func (t *tx) fail(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	err = t.s.explain(ctx, "write", t.c, err)
	if t.failure == nil {
		t.failure = err
	}
	return err
}

// write runs a writing statement; before the first one it sets state.since for the
// triggers.
func (t *tx) write(sql string, args ...any) error {
	if err := t.announce(); err != nil {
		return err
	}
	return t.c.exec(sql, args...)
}

func (t *tx) announce() error {
	if t.writing {
		return nil
	}
	t.writing = true
	p, err := t.c.alignClock()
	if err != nil {
		return err
	}
	return t.c.exec("UPDATE state SET since = ?", p.Clock)
}

// flush writes all that differs.
func (t *tx) flush(ctx context.Context) error {
	if err := t.flushParents(); err != nil {
		return err
	}
	for _, f := range []func(context.Context) error{t.keywords.Flush, t.negatives.Flush, t.campaignNeg.Flush, t.ads.Flush} {
		if err := f(ctx); err != nil {
			return err
		}
	}
	return t.sums.flush()
}

// bound keeps the caches small.
func (t *tx) bound(ctx context.Context) error {
	parents := max(len(t.advertisers), len(t.campaigns), len(t.groups))
	rows := t.keywords.Size() + t.negatives.Size() + t.campaignNeg.Size() + t.ads.Size()
	if parents < t.s.limits.parents && rows < t.s.limits.cached {
		return nil
	}
	if err := t.flush(ctx); err != nil {
		return err
	}
	t.forget()
	return nil
}

// Commit implements backend.Tx. The transaction has ended afterwards in any case;
// if it failed, nothing was written.
func (t *tx) Commit(ctx context.Context) error {
	err := t.ready(ctx)
	if t.done {
		return err
	}
	if err == nil {
		stop := t.c.until(ctx)
		err = t.commit(ctx)
		stop()
	}
	t.done = true
	return t.s.written(ctx, "commit", t.c, err)
}

func (t *tx) commit(ctx context.Context) error {
	if err := t.flush(ctx); err != nil {
		return err
	}
	if t.writing || t.given != t.stored {
		err := t.c.exec("UPDATE state SET since = ?, keyword = ?, negative = ?, ad = ?",
			int64(math.MaxInt64), t.given.keyword, t.given.negative, t.given.ad)
		if err != nil {
			return err
		}
	}
	return t.c.exec("COMMIT")
}

// Rollback implements backend.Tx.
func (t *tx) Rollback() error {
	if t.done {
		return nil
	}
	t.done = true
	return failed(context.Background(), "rollback", t.s.path, t.s.release(t.c))
}
