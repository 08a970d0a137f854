package ingest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"adshard/backend"
	"adshard/fault"
	"adshard/ingest/rejected"
	"adshard/ingest/textfile"
)

const (
	chunkRows = 256     // rows handed over at once
	chunkSize = 1 << 20 // or bytes of the file
	chunks    = 4       // chunks that are read ahead
	// spareChunks is the number of chunks that are kept for reuse; keeping all chunks of a transaction would cost
	// memory.
	spareChunks = 8
	// maxTxAge is the age at which a transaction ends, so that other writers do not wait too long.
	maxTxAge = 500 * time.Millisecond
	// maxTxSize is the number of bytes of the file at which a transaction ends; they stay in memory until it is
	// committed.
	maxTxSize = 8 << 20
)

// run is the state of one call of Run.
type run struct {
	store   backend.Store
	options Options
	sum     *Summary
	rejects rejected.Writer
	skipped skips
	effects effectSets
	near    nearNames
	foreign campaignTypes
	lists   []*listLine
	told    told
	// restricts counts what restricts campaigns and the import does not apply.
	restricts restrictions
	paused    pausedNames
	at        backend.Position // the position of the database after the last commit or later
}

// chunk holds some rows of a file, read and checked.
type chunk struct {
	entries []entry
	read    int64  // how many bytes of the file were read by then
	number  uint64 // of the file
	err     error  // the error that ended the file after these rows; io.EOF at its end
	tale    tale
}

func (r *run) files(ctx context.Context, names []string) error {
	if len(names) == 0 {
		return fault.Newf(fault.Invalid, "ingest: run", "no file: name at least one, or - for standard input")
	}
	for _, name := range names {
		r.near.file++
		if err := r.file(ctx, name); err != nil {
			return err
		}
		r.sum.Files++
	}
	return nil
}

func (r *run) file(ctx context.Context, name string) error {
	in, err := textfile.Open(ctx, name, r.options.Stdin)
	if err != nil {
		return err
	}
	if name == "-" {
		in.Name = cmp.Or(r.options.StdinName, name)
	}
	err = r.stream(ctx, in)
	if e := in.Close(); err == nil {
		err = e
	}
	return err
}

// stream reads the file in one goroutine and writes its rows in another.
func (r *run) stream(ctx context.Context, in *textfile.File) error {
	src, err := openSource(in, r.options, &r.foreign)
	if err != nil {
		return textfile.Fault(in.Name, 1, 1, err)
	}
	ready, spare := make(chan *chunk, chunks), make(chan *chunk, spareChunks)
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		defer close(ready)
		return readChunks(ctx, src, in, min(chunkRows, r.options.BatchRows), ready, spare)
	})
	w := &writer{run: r, in: in, spare: spare, column: src.column, progress: Progress{File: in.Name, Size: in.Size}}
	group.Go(func() error {
		err := w.write(ctx, ready)
		return errors.Join(err, w.rollback())
	})
	return group.Wait()
}

// readChunks reads the file until it ends or ctx is done. An error is sent after the rows that were read before it.
// readChunks reuses spare chunks.
func readChunks(ctx context.Context, src source, in *textfile.File, rows int, ready chan<- *chunk, spare <-chan *chunk) error {
	for {
		var c *chunk
		select {
		case c = <-spare:
			*c = chunk{entries: slices.Grow(c.entries[:0], rows)}
		default:
			c = &chunk{entries: make([]entry, 0, rows)}
		}
		var ads adNotes
		from := in.BytesRead()
		for c.err == nil && len(c.entries) < rows && in.BytesRead()-from < chunkSize {
			c.entries = c.entries[:len(c.entries)+1] // an entry is too large to be copied
			e := &c.entries[len(c.entries)-1]
			if c.err = src.next(e); c.err != nil {
				c.entries = c.entries[:len(c.entries)-1]
				break
			}
			ads.row(e)
		}
		c.read, c.number, c.tale = in.BytesRead(), src.number(), src.tell()
		c.tale.ads = ads
		if c.err != nil && c.err != io.EOF {
			record, line := src.position()
			c.err = textfile.Fault(in.Name, record, line, c.err)
		}
		select {
		case ready <- c:
		case <-ctx.Done():
			return ctx.Err()
		}
		if c.err != nil {
			return nil
		}
	}
}

// writer applies the rows of one file in whole transactions.
type writer struct {
	run      *run
	in       *textfile.File
	spare    chan<- *chunk // receives the chunks whose rows are committed
	column   func(e *entry, of kind) string
	applier  *applier // nil if no transaction is open
	begun    time.Time
	chunks   []*chunk // the chunks with the rows of the open transaction
	open     counts
	sayings  sayings
	keywords pendingKeywords // of the open transaction
	reported int64           // how many rejects of the open transaction are in the report
	holds    *holdings
	applied  bool     // some rows of the file were applied
	ended    release  // as far as committed
	ending   release  // as far as the open transaction
	doubt    *doubt   // a transaction that may have been committed, or nil
	progress Progress // what has been committed
}

func (w *writer) write(ctx context.Context, ready <-chan *chunk) error {
	for c := range ready {
		w.meet(c)
		err := w.apply(ctx, c)
		if c.err != nil && c.err != io.EOF {
			return cmp.Or(err, c.err)
		}
		ends, read := c.err == io.EOF, c.read // commit may hand the chunk back
		if err == nil && (w.full() || ends) {
			err = w.commit(ctx)
		}
		if err = w.repeat(ctx, err); err != nil {
			return err
		}
		if ends && w.applied {
			if err := w.release(ctx, read); err != nil {
				return err
			}
		}
	}
	return ctx.Err()
}

// full reports whether the transaction should end.
func (w *writer) full() bool {
	return w.open.rows >= int64(w.run.options.BatchRows) || w.applier != nil && time.Since(w.begun) > maxTxAge ||
		w.chunks[len(w.chunks)-1].read-w.progress.Bytes > maxTxSize
}

func (w *writer) apply(ctx context.Context, c *chunk) error {
	for i := range c.entries {
		if err := w.entry(ctx, &c.entries[i]); err != nil {
			return err
		}
	}
	if c.err == io.EOF {
		return w.end(ctx)
	}
	return nil
}

func (w *writer) entry(ctx context.Context, e *entry) error {
	w.open.rows++
	switch {
	case e.reject != nil:
		return w.reject(ctx, e)
	case e.list != nil:
		return nil // applied at the end
	case e.skipped != "":
		w.open.skipped.add(e.skipped, 1)
		if !e.pauses {
			return nil
		}
	case e.warning != nil:
		w.warn(e.warning)
	}
	for _, place := range e.inactive {
		w.inactive(e, place)
	}
	if w.applier == nil {
		if err := w.begin(ctx); err != nil {
			return err
		}
	}
	if e.extras != nil && e.extras.originals != [2]string{} {
		var err error
		if e.reject, err = w.rename(ctx, e); err != nil {
			return err
		}
		if e.reject != nil {
			e.pausing = e.restricts
			return w.reject(ctx, e)
		}
	}
	err := w.applier.apply(ctx, e)
	if errors.Is(err, errManyLocations) {
		e.reject, e.pausing = &rejected.Row{File: w.in.Name, Record: e.record, Column: colLocation.String(), Reason: err.Error()}, true
		return w.reject(ctx, e)
	}
	if err != nil {
		return fmt.Errorf("%s: row %d: %w", w.in.Name, e.record, err)
	}
	return nil
}

func (w *writer) begin(ctx context.Context) error {
	tx, err := w.run.store.Begin(ctx)
	if err != nil {
		return err
	}
	w.keywords.reset()
	w.applier = &applier{tx: tx, keywords: &w.keywords, near: &w.run.near, misspelt: w.misspelt, paused: w.paused, holds: w.holds, sayings: &w.sayings, pausedNames: &w.run.paused,
		contradicts: w.contradicts}
	w.applied = true
	tx.Watch(w.applier.watch)
	w.begun = time.Now()
	return nil
}

// commit makes the rows so far durable and then counts them.
func (w *writer) commit(ctx context.Context) error {
	if err := w.commitOpen(ctx); err != nil {
		return fmt.Errorf("%s: up to row %d: %w", w.in.Name, w.progress.Rows+w.open.rows, err)
	}
	read := w.chunks[len(w.chunks)-1].read
	for _, c := range w.chunks {
		w.run.told.add(&c.tale)
		select {
		case w.spare <- c:
		default:
		}
	}
	clear(w.chunks)
	w.chunks, w.reported = w.chunks[:0], 0
	sum, n := w.run.sum, &w.open
	sum.Rows += n.rows
	sum.Rejected += n.rejected
	sum.Bytes += read - w.progress.Bytes
	sum.First = append(sum.First, n.first...)
	w.run.told.contradictions.add(n.contradictions.Count, n.contradictions.First...)
	sum.Warnings += n.warnings
	sum.FirstWarnings = append(sum.FirstWarnings, n.firstWarnings...)
	for kind, rows := range n.skipped {
		w.run.skipped.add(kind, rows)
	}
	sum.Renamed += n.renamed
	sum.FirstRenamed = append(sum.FirstRenamed, n.firstRenamed...)
	w.progress.Rows += n.rows
	w.progress.Rejected += n.rejected
	w.progress.Bytes = read
	w.open = counts{}
	if w.run.options.Progress != nil {
		w.run.options.Progress(w.progress)
	}
	return nil
}

// commitOpen ends the open transaction, if there is one, and notes the position of the database. If that fails, the
// transaction is in doubt.
func (w *writer) commitOpen(ctx context.Context) error {
	a := w.applier
	if a == nil {
		return nil
	}
	if err := a.flush(ctx); err != nil {
		return err
	}
	if w.doubt != nil && w.doubt.settle(&a.effects) {
		w.open = w.doubt.counts
	}
	w.doubt = &doubt{&a.effects, w.open}
	err := a.tx.Commit(ctx)
	if err == nil {
		err = w.moved(ctx)
	}
	if err != nil {
		return err
	}
	w.run.effects.add(&a.effects)
	w.run.told.committed(&a.bids)
	w.run.near.committed()
	w.doubt, w.applier, w.ended = nil, nil, w.ending
	w.run.sum.Transactions++
	return nil
}

func (w *writer) rollback() error {
	if w.applier == nil {
		return nil
	}
	tx := w.applier.tx
	w.applier = nil
	return tx.Rollback()
}
