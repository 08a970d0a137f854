package postgres

import (
	"context"
	"iter"
	"math"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"adshard/backend"
	"adshard/fault"
)

// snapshot is a read-only transaction on a connection of its own. Several goroutines may call its methods; they take
// turns.
type snapshot struct {
	s  *Store
	at backend.Position

	mu sync.Mutex
	c  *pgxpool.Conn // nil if closed
}

const beginRead = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"

// Snapshot implements backend.Feed. Writers do not wait for a snapshot; the server keeps the row versions that it may
// read.
func (s *Store) Snapshot(ctx context.Context) (backend.Snapshot, error) {
	for attempt := 0; ; attempt++ {
		c, err := s.acquire(ctx, "snapshot")
		if err != nil {
			return nil, err
		}
		n := &snapshot{s: s, c: c}
		b := &pgx.Batch{}
		b.Queue(beginRead)
		b.Queue(selectNewest).QueryRow(func(row pgx.Row) (err error) {
			n.at, err = newest(row) // the first read determines what the transaction sees
			return err
		})
		if err = c.SendBatch(ctx, b).Close(); err == nil {
			return n, nil
		}
		broken := c.Conn().IsClosed()
		end(c)
		if !broken || ctx.Err() != nil || attempt > 0 {
			return nil, s.failed(ctx, "snapshot", err)
		}
		s.pool.Reset()
	}
}

// end ends the transaction of a connection and returns the connection to the pool, which closes it if that fails.
func end(c *pgxpool.Conn) {
	if !c.Conn().IsClosed() && c.Conn().PgConn().TxStatus() != 'I' {
		ctx, cancel := context.WithTimeout(context.Background(), endTime)
		defer cancel()
		if _, err := c.Exec(ctx, "ROLLBACK"); err != nil {
			c.Conn().Close(ctx)
		}
	}
	c.Release()
}

func (n *snapshot) Position() backend.Position { return n.at }

func (n *snapshot) Close() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.c != nil {
		end(n.c)
		n.c = nil
	}
	return nil
}

// read runs f on the snapshot's connection.
func (n *snapshot) read(ctx context.Context, op string, f func(context.Context, *pgx.Conn) error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.c == nil {
		return fault.Newf(fault.Conflict, "postgres: "+op, "the snapshot is closed: open another")
	}
	patient, stop := outlasting(ctx)
	defer stop()
	return n.s.failed(ctx, op, f(patient, n.c.Conn()))
}

// outlasting returns a context that ends endTime after ctx does. A connection is closed when the context of its query
// ends, and the snapshot with it. But a snapshot must outlast a reader that gave up, whose queries are short.
func outlasting(ctx context.Context) (context.Context, context.CancelFunc) {
	patient, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		later := time.AfterFunc(endTime, cancel)
		context.AfterFunc(patient, func() { later.Stop() })
	})
	return patient, func() {
		stop()
		cancel()
	}
}

// chunkGroups is the number of groups that are read together.
const chunkGroups = 512

// groupIDs returns up to chunkGroups ids of groups above `after`, in ascending order.
func (n *snapshot) groupIDs(ctx context.Context, after uint64) (ids []uint64, err error) {
	if after > math.MaxInt64 {
		return nil, nil
	}
	err = n.read(ctx, "read items", func(ctx context.Context, c *pgx.Conn) error {
		rows, _ := c.Query(ctx, "SELECT id FROM adshard.ad_group WHERE id > $1 ORDER BY id LIMIT $2", int64(after), chunkGroups)
		ids, err = pgx.CollectRows(rows, pgx.RowTo[uint64])
		return err
	})
	return ids, err
}

// Groups implements backend.Snapshot. It reads in chunks, so that the snapshot
// can be used inside the loop.
func (n *snapshot) Groups(ctx context.Context) iter.Seq2[backend.GroupSize, error] {
	return func(yield func(backend.GroupSize, error) bool) {
		for last := uint64(0); ; {
			ids, err := n.groupIDs(ctx, last)
			if err == nil && len(ids) == 0 {
				return
			}
			var sizes []backend.GroupSize
			if err == nil {
				last = ids[len(ids)-1]
				err = n.read(ctx, "read group sizes", func(ctx context.Context, c *pgx.Conn) error {
					rows, _ := c.Query(ctx, selectSizes, int64(ids[0]), int64(last))
					sizes, err = pgx.CollectRows(rows, pgx.RowToStructByPos[backend.GroupSize])
					return err
				})
			}
			if err != nil {
				yield(backend.GroupSize{}, err)
				return
			}
			for _, g := range sizes {
				if !yield(g, nil) {
					return
				}
			}
		}
	}
}

const selectSizes = `SELECT g.id, g.advertiser_id, g.campaign_id, coalesce(k.n, 0), coalesce(a.n, 0), coalesce(k.words, 0)
  FROM adshard.ad_group g
  LEFT JOIN (SELECT group_id, count(*) AS n, count(DISTINCT words) AS words FROM adshard.keyword
    WHERE group_id BETWEEN $1 AND $2 GROUP BY group_id) k ON k.group_id = g.id
  LEFT JOIN (SELECT group_id, count(*) AS n FROM adshard.ad WHERE group_id BETWEEN $1 AND $2 GROUP BY group_id) a ON a.group_id = g.id
  WHERE g.id BETWEEN $1 AND $2 ORDER BY g.id`
