package sqlite

import (
	"context"
	"iter"
	"sync"

	"adshard/backend"
)

// All implements backend.Snapshot. Several connections read chunks of ids at
// once, each in a read transaction of the same clock, and the chunks are
// handed out in order. When a commit came between, so that others cannot see
// the same state any more, the snapshot's own connection reads alone.
func (n *snapshot) All(ctx context.Context) iter.Seq2[*backend.Item, error] {
	return func(yield func(*backend.Item, error) bool) {
		last, err := n.lastGroup(ctx)
		if err != nil {
			yield(nil, err)
			return
		}
		readers := n.readers(ctx, last)
		defer readers.close()
		ctx, cancel := context.WithCancel(ctx)
		p := startScan(ctx, readers.read, len(readers.conns), last)
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

func (n *snapshot) lastGroup(ctx context.Context) (uint64, error) {
	var last int64
	err := n.read(ctx, "read items", func(c *conn) (err error) {
		last, err = c.number("SELECT coalesce(max(id), 0) FROM ad_group")
		return err
	})
	return uint64(last), err
}

// readers is who reads the chunks of a scan: connections of its own, or, when
// there are none, the snapshot.
type readers struct {
	n     *snapshot
	conns []*conn
}

// readers opens connections that see what the snapshot sees: any change of
// content moves the clock, so an equal position means equal content.
func (n *snapshot) readers(ctx context.Context, last uint64) *readers {
	r := &readers{n: n}
	want := min(n.s.options.Readers, int(last/chunkGroups)+1)
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
	return r
}

func (r *readers) close() {
	for _, c := range r.conns {
		if c != nil {
			r.n.s.endRead(c)
		}
	}
	r.conns = nil
}

// read reads a chunk as worker w.
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

// chunk is the items of one range of ids.
type chunk struct {
	items []*backend.Item
	err   error
}

// scan is a pipeline: chunks come in the order of their ranges, each as a
// channel that one worker fills.
type scan struct {
	chunks chan chan chunk
	wg     sync.WaitGroup
}

type chunkReader func(ctx context.Context, worker int, first, last uint64) ([]*backend.Item, error)

// startScan reads the ids 1 to last. A few chunks for each worker may wait to
// be taken; that bounds the memory.
func startScan(ctx context.Context, read chunkReader, workers int, last uint64) *scan {
	s := &scan{chunks: make(chan chan chunk, 2*workers)}
	type job struct {
		first uint64
		to    chan chunk
	}
	jobs := make(chan job)
	s.wg.Go(func() {
		defer close(jobs)
		defer close(s.chunks)
		for first := uint64(1); first <= last; first += chunkGroups {
			j := job{first, make(chan chunk, 1)}
			select {
			case s.chunks <- j.to:
			case <-ctx.Done():
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

// wait returns when the workers have ended; the context must be over or the
// chunks all taken.
func (s *scan) wait() { s.wg.Wait() }
