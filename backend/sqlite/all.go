package sqlite

import (
	"context"
	"iter"
	"sync"

	"adshard/backend"
)

// All implements backend.Snapshot. Several connections read chunks of ids at once, each in a read transaction of the
// same clock, and the chunks are yielded in order. If a commit came in between, so that they cannot see the same
// state any more, only the snapshot's own connection reads.
func (n *snapshot) All(ctx context.Context) iter.Seq2[*backend.Item, error] {
	return func(yield func(*backend.Item, error) bool) {
		readers, err := n.readers(ctx)
		if err != nil {
			yield(nil, err)
			return
		}
		defer readers.close()
		ctx, cancel := context.WithCancel(ctx)
		p := startScan(ctx, n.nextGroup, readers.read, len(readers.conns))
		defer p.wait()
		defer cancel()
		for c := range p.chunks {
			chunk := <-c
			if chunk.err != nil {
				yield(nil, chunk.err)
				return
			}
			for _, it := range chunk.items {
				if !yield(it, nil) {
					return
				}
			}
		}
		if err := ctx.Err(); err != nil {
			yield(nil, err)
		}
	}
}

// nextGroup returns the lowest id of a group that is at least `first`, or 0 if there is none.
func (n *snapshot) nextGroup(ctx context.Context, first uint64) (uint64, error) {
	var next int64
	err := n.read(ctx, "read items", func(c *conn) (err error) {
		next, err = c.number("SELECT id FROM ad_group WHERE id >= ? ORDER BY id LIMIT 1", first)
		if err == nil && next != 0 && uint64(next) < first {
			err = corrupt("read items", &backend.Damage{Kind: backend.KindGroup, ID: uint64(next), Problem: "its row is not stored under its id"})
		}
		return err
	})
	return uint64(next), err
}

// readers reads the chunks of a scan, with connections of its own or, if there are none, with the snapshot's.
type readers struct {
	n     *snapshot
	conns []*conn
}

// readers opens connections that see what the snapshot sees. Any change of content advances the clock, so an equal
// position means equal content.
func (n *snapshot) readers(ctx context.Context) (*readers, error) {
	r := &readers{n: n}
	more, err := n.nextGroup(ctx, chunkGroups+1)
	if err != nil {
		return nil, err
	}
	want := n.s.options.Readers
	if more == 0 {
		want = 1
	}
	for len(r.conns) < want {
		c, at, err := n.s.openRead(ctx)
		if err != nil {
			break
		}
		r.conns = append(r.conns, c)
		if at != n.at {
			r.close()
			break
		}
	}
	if len(r.conns) == 0 {
		r.conns = []*conn{nil}
	}
	return r, nil
}

func (r *readers) close() {
	for _, c := range r.conns {
		if c != nil {
			r.n.s.endRead(c)
		}
	}
	r.conns = nil
}

// read reads a chunk for worker w.
func (r *readers) read(ctx context.Context, w int, first, last uint64) (items []*backend.Item, err error) {
	do := func(c *conn) (err error) {
		items, err = readItems(c, first, last)
		return err
	}
	if c := r.conns[w]; c != nil {
		return items, r.n.s.readOn(ctx, "read items", c, do)
	}
	return items, r.n.read(ctx, "read items", do)
}

// chunk holds the items of one range of ids.
type chunk struct {
	items []*backend.Item
	err   error
}

// job is a range of ids that starts at `first`.
type job struct {
	first uint64
	to    chan chunk
}

// scan is a pipeline. Chunks come in the order of their ranges, each as a channel that one worker fills.
type scan struct {
	chunks chan chan chunk
	wg     sync.WaitGroup
}

type (
	// nextGroup returns the next id from `first` on, or 0 if there is none.
	nextGroup   func(ctx context.Context, first uint64) (uint64, error)
	chunkReader func(ctx context.Context, worker int, first, last uint64) ([]*backend.Item, error)
)

// startScan starts to read all ids. Only a few chunks for each worker may wait to be taken, which bounds the memory.
func startScan(ctx context.Context, next nextGroup, read chunkReader, workers int) *scan {
	s := &scan{chunks: make(chan chan chunk, 2*workers)}
	jobs := make(chan job)
	s.wg.Go(func() {
		defer close(jobs)
		defer close(s.chunks)
		for first := uint64(1); ; first += chunkGroups {
			id, err := next(ctx, first)
			if err == nil && id == 0 {
				return
			}
			first = id
			j := job{first, make(chan chunk, 1)}
			select {
			case s.chunks <- j.to:
			case <-ctx.Done():
				return
			}
			if err != nil {
				j.to <- chunk{err: err}
				return
			}
			select {
			case jobs <- j:
			case <-ctx.Done():
				j.to <- chunk{err: context.Cause(ctx)}
				return
			}
		}
	})
	for w := range workers {
		s.wg.Go(func() {
			for j := range jobs {
				items, err := read(ctx, w, j.first, j.first+chunkGroups-1)
				if err == nil {
					err = ctx.Err()
				}
				j.to <- chunk{items, err}
			}
		})
	}
	return s
}

// wait returns when the workers have ended. Before, either the context must be done or all chunks must be taken.
func (s *scan) wait() { s.wg.Wait() }
