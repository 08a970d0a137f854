package ingest

import (
	"context"
	"fmt"
	"time"

	"adshard/fault"
	"adshard/internal/wait"
)

// DefaultPatience is how long a transaction is repeated at most.
const DefaultPatience = 2 * time.Minute

const (
	firstPause = 50 * time.Millisecond // about, before the first repetition; doubled for each further one
	longPause  = 2 * time.Second
	// futile is how often a transaction is repeated if it fails with fault.Unavailable
	// although the database can be read: then the connection is not the cause.
	futile = 3
)

// repeat applies the rows of the failed transaction again, until they are
// committed, an error says that this is useless, or the patience ends.
//
// Why that is exact: a transaction that failed before its commit has written
// nothing. One whose commit's answer was lost may have been committed; then it finds
// its own rows, and rows are upserts, so that it changes nothing. It cannot be
// committed later than its repetition, which would wait for the rows that it has locked. The
// transactions before it are still there, as same makes sure.
func (w *writer) repeat(ctx context.Context, err error) error {
	until, useless := time.Now().Add(w.run.options.Patience), 0
	pauses := wait.Backoff{Least: firstPause, Most: longPause}
	for again := false; fault.Is(err, fault.Locked) || fault.Is(err, fault.Unavailable); again = true {
		if time.Now().After(until) {
			return err
		}
		_ = w.rollback() // it has failed already
		if !again && w.run.options.Repeating != nil {
			w.run.options.Repeating(err)
		}
		if e := pauses.Sleep(ctx); e != nil {
			return e
		}
		if fault.Is(err, fault.Unavailable) {
			if e := w.same(ctx); e != nil {
				err = e
				continue
			}
			if useless++; useless > futile {
				return err
			}
		}
		err = w.repeatOnce(ctx)
	}
	return err
}

// repeatOnce applies all rows of the transaction and commits it.
func (w *writer) repeatOnce(ctx context.Context) error {
	w.run.near.undone()
	w.open, w.sayings = counts{}, sayings{} // they know of the transaction that failed
	for _, c := range w.chunks {
		if err := w.apply(ctx, c); err != nil {
			return err
		}
	}
	return w.commit(ctx)
}

// same makes sure that the database still has what this import has committed: it may be
// another server, a promoted standby that lacks some of it.
func (w *writer) same(ctx context.Context) error {
	_, err := w.run.store.Changes(ctx, w.run.at, 1)
	switch {
	case fault.Is(err, fault.Conflict):
		return fmt.Errorf("the database has gone back to a state before this import, as after a failover that lost changes: "+
			"import all files again: %w", err)
	case fault.Is(err, fault.Stale):
		return fmt.Errorf("it is not known whether the database still has what this import has committed: import all files again: %w", err)
	}
	return err
}

// doubt is a transaction of which it is not known whether it was committed.
type doubt struct {
	effects *effectSets
	counts  counts
}

// moved notes where the database is after a commit. Connections are replaced without a word,
// so what was committed before may have been lost even if nothing has failed. Changes that
// were compacted meanwhile prove nothing: a file from a pipe may take hours.
func (w *writer) moved(ctx context.Context) error {
	newest, err := w.run.store.Newest(ctx)
	if err == nil {
		err = w.same(ctx)
	}
	if err != nil && !fault.Is(err, fault.Stale) {
		return err
	}
	w.run.at = newest
	return nil
}

// settle merges its effects with those of its repetition, and reports whether it was committed.
// That shows only if it created something, which the repetition then found. What it changed and
// removed was either changed and removed again, or still is.
func (d *doubt) settle(again *effectSets) (committed bool) {
	for entity := range again {
		of, was := &again[entity], &d.effects[entity]
		was.created.And(&of.named)
		was.changed.And(&of.named)
		committed = committed || !was.created.IsEmpty()
		of.created.Or(&was.created)
		of.changed.Or(&was.changed)
		of.removed.Or(&was.removed)
	}
	return committed
}
