package ingest

import (
	"context"
	"fmt"
	"time"

	"adshard/fault"
	"adshard/internal/wait"
)

// DefaultPatience is how long a failed transaction is repeated at most.
const DefaultPatience = 2 * time.Minute

const (
	firstPause = 50 * time.Millisecond // about the pause before the first repetition; it doubles for each further one
	longPause  = 2 * time.Second
	// futile is how often a transaction is repeated if it fails with fault.Unavailable although the database can be
	// read, so that the connection is not the cause.
	futile = 3
)

// repeat applies the rows of the failed transaction again until they are committed, an error shows that repeating is
// useless, or the patience ends.
//
// This is exact: a transaction that failed before its commit has written nothing. A transaction whose commit got no
// answer may have been committed. Its repetition then finds the rows; since rows are upserts, it changes nothing. The
// first attempt cannot be committed after the repetition, which would wait for the rows that the first has locked.
// The earlier transactions are still there, which `same` checks.
func (w *writer) repeat(ctx context.Context, err error) error {
	until, useless := time.Now().Add(w.run.options.Patience), 0
	pauses := wait.Backoff{Least: firstPause, Most: longPause}
	for again := false; fault.Is(err, fault.Locked) || fault.Is(err, fault.Unavailable); again = true {
		if time.Now().After(until) {
			return err
		}
		_ = w.rollback() // the transaction has failed already
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

// repeatOnce applies all rows of the transaction and commits them.
func (w *writer) repeatOnce(ctx context.Context) error {
	w.run.near.undone()
	w.open, w.sayings = counts{}, sayings{} // they contain what the failed transaction noted
	for _, c := range w.chunks {
		if err := w.apply(ctx, c); err != nil {
			return err
		}
	}
	return w.commit(ctx)
}

// same returns an error if the database no longer has what this import has committed. It may now be another server: a
// promoted standby that lacks some of it.
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

// doubt is a transaction that may or may not have been committed.
type doubt struct {
	effects *effectSets
	counts  counts
}

// moved notes the position of the database after a commit. Connections are replaced silently, so what was committed
// before may have been lost even if nothing has failed. If the changes since then were compacted, that proves
// nothing: a file from a pipe may take hours.
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

// settle merges the effects of the doubtful transaction with those of its repetition, and reports whether the former
// was committed. That shows only if it created something that the repetition then found. What it changed and removed
// was either changed and removed again, or still is.
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
