package postgres

import (
	"context"
	"iter"
	"sync"

	"github.com/jackc/pgx/v5"

	"adshard/backend"
)

// All implements backend.Snapshot. Several connections read chunks at once, all in the same state of the database,
// which the server exports for this purpose. The chunks are yielded in order.
func (n *snapshot) All(ctx context.Context) iter.Seq2[*backend.Item, error] {
	return func(yield func(*backend.Item, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		s := n.scan(ctx)
		defer s.wg.Wait()
		defer cancel()
		for c := range s.chunks {
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
		if ctx.Err() != nil {
			yield(nil, context.Cause(ctx))
		}
	}
}

// chunk holds the items of one range of ids.
type chunk struct {
	items []*backend.Item
	err   error
}

// job is a range of ids to read.
type job struct {
	first, last uint64
	to          chan chunk
}

// scan is a pipeline. Chunks come in the order of their ranges, each as a channel that one reader fills. Only a few
// chunks for each reader may wait, which bounds the memory.
type scan struct {
	chunks chan chan chunk
	jobs   chan job
	wg     sync.WaitGroup
}

func (n *snapshot) scan(ctx context.Context) *scan {
	readers := n.readers(ctx)
	s := &scan{chunks: make(chan chan chunk, 2*len(readers)), jobs: make(chan job)}
	s.wg.Go(func() { n.plan(ctx, s) })
	for _, c := range readers {
		s.wg.Go(func() {
			defer func() {
				if c != nil {
					c.Close(context.WithoutCancel(ctx))
				}
			}()
			for j := range s.jobs {
				items, err := n.readAs(ctx, c, j)
				j.to <- chunk{items, err}
			}
		})
	}
	return s
}

// plan sends the jobs.
func (n *snapshot) plan(ctx context.Context, s *scan) {
	defer close(s.jobs)
	defer close(s.chunks)
	for last := uint64(0); ; {
		ids, err := n.groupIDs(ctx, last)
		if err == nil && len(ids) == 0 {
			return
		}
		j := job{to: make(chan chunk, 1)}
		if err == nil {
			j.first, j.last = ids[0], ids[len(ids)-1]
			last = j.last
		}
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
		case s.jobs <- j:
		case <-ctx.Done():
			j.to <- chunk{err: context.Cause(ctx)}
			return
		}
	}
}

// readers returns connections that see what the snapshot sees; nil means the snapshot's own connection. They do
// not come from the pool, since the holder of one of its connections must not wait for another one.
func (n *snapshot) readers(ctx context.Context) []*pgx.Conn {
	var exported string
	var more bool
	err := n.read(ctx, "read items", func(ctx context.Context, c *pgx.Conn) error {
		return c.QueryRow(ctx, "SELECT pg_export_snapshot(), count(*) > $1 FROM (SELECT FROM adshard.ad_group LIMIT $1 + 1) g",
			chunkGroups).Scan(&exported, &more)
	})
	if err != nil || !more {
		return []*pgx.Conn{nil}
	}
	var list []*pgx.Conn
	for len(list) < n.s.options.Readers {
		c, err := pgx.ConnectConfig(ctx, n.s.pool.Config().ConnConfig)
		if err != nil {
			break
		}
		if _, err := c.PgConn().Exec(ctx, beginRead+"; SET TRANSACTION SNAPSHOT '"+exported+"'").ReadAll(); err != nil {
			c.Close(context.WithoutCancel(ctx)) // it is a different server than the snapshot's
			break
		}
		list = append(list, c)
	}
	if len(list) == 0 {
		list = []*pgx.Conn{nil}
	}
	return list
}

func (n *snapshot) readAs(ctx context.Context, c *pgx.Conn, j job) (items []*backend.Item, err error) {
	do := func(ctx context.Context, c *pgx.Conn) error {
		items, err = readRange(ctx, c, j.first, j.last)
		return err
	}
	if c == nil {
		return items, n.read(ctx, "read items", do)
	}
	return items, n.s.failed(ctx, "read items", do(ctx, c))
}
