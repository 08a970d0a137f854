package sqlite

import (
	"cmp"
	"context"
	"iter"
	"slices"
	"sync"

	zs "zombiezen.com/go/sqlite"

	"adshard/backend"
	"adshard/fault"
)

// snapshot is a read transaction on a connection of its own. Several goroutines may call its methods; they take
// turns.
type snapshot struct {
	s  *Store
	at backend.Position

	mu sync.Mutex
	c  *conn // nil if closed
}

// Snapshot implements backend.Feed.
func (s *Store) Snapshot(ctx context.Context) (backend.Snapshot, error) {
	c, at, err := s.openRead(ctx)
	if err != nil {
		return nil, err
	}
	return &snapshot{s: s, at: at, c: c}, nil
}

// openRead starts a read transaction and returns its position.
func (s *Store) openRead(ctx context.Context) (*conn, backend.Position, error) {
	if err := ctx.Err(); err != nil {
		return nil, backend.Position{}, err
	}
	c, err := s.pool.take(ctx, false)
	if err != nil {
		return nil, backend.Position{}, describe(ctx, "snapshot", s.path, err)
	}
	var at backend.Position
	if err = c.exec("BEGIN"); err == nil {
		at, err = c.newest() // the first read determines what the transaction sees
	}
	if err != nil {
		err = s.explain(ctx, "snapshot", c, err)
		s.pool.discard(c)
		return nil, backend.Position{}, err
	}
	return c, at, nil
}

// endRead ends a read transaction and keeps the connection for the next one.
func (s *Store) endRead(c *conn) error {
	err := c.exec("ROLLBACK")
	if err != nil {
		s.pool.discard(c)
	} else {
		err = s.pool.give(c, false)
	}
	return failed(context.Background(), "close snapshot", s.path, err)
}

// readOn runs f on the connection of a snapshot.
func (s *Store) readOn(ctx context.Context, op string, c *conn, f func(*conn) error) error {
	if err := s.pool.check(c); err != nil {
		return err
	}
	stop := c.until(ctx)
	defer stop()
	return s.explain(ctx, op, c, f(c))
}

func (n *snapshot) Position() backend.Position { return n.at }

func (n *snapshot) Close() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.c == nil {
		return nil
	}
	c := n.c
	n.c = nil
	return n.s.endRead(c)
}

// read runs f on the snapshot's connection.
func (n *snapshot) read(ctx context.Context, op string, f func(*conn) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.c == nil {
		return fault.Newf(fault.Conflict, "sqlite: "+op, "the snapshot is closed: open another")
	}
	return n.s.readOn(ctx, op, n.c, f)
}

// Groups implements backend.Snapshot. It reads in chunks, so that the snapshot
// can be used inside the loop.
func (n *snapshot) Groups(ctx context.Context) iter.Seq2[backend.GroupSize, error] {
	return func(yield func(backend.GroupSize, error) bool) {
		last := uint64(0)
		for {
			var chunk []backend.GroupSize
			err := n.read(ctx, "read group sizes", func(c *conn) (err error) {
				chunk, err = readSizes(c, last, 4*chunkGroups)
				return err
			})
			if err != nil {
				yield(backend.GroupSize{}, err)
				return
			}
			for _, g := range chunk {
				if !yield(g, nil) {
					return
				}
			}
			if len(chunk) == 0 {
				return
			}
			last = chunk[len(chunk)-1].ID
		}
	}
}

// readSizes reads the sizes of up to `limit` groups with ids above `after`.
func readSizes(c *conn, after uint64, limit int) ([]backend.GroupSize, error) {
	sizes := make([]backend.GroupSize, 0, limit)
	err := c.query(`SELECT g.id, g.campaign_id, c.advertiser_id, g.version FROM ad_group g LEFT JOIN campaign c ON c.id = g.campaign_id
  WHERE g.id > ? ORDER BY g.id LIMIT ?`, func(st *zs.Stmt) error {
		g := backend.GroupSize{
			ID: uint64(st.ColumnInt64(0)), CampaignID: uint64(st.ColumnInt64(1)), AdvertiserID: uint64(st.ColumnInt64(2)),
		}
		switch {
		case g.ID <= after || len(sizes) > 0 && g.ID <= sizes[len(sizes)-1].ID:
			return corrupt("read group sizes", &backend.Damage{Kind: backend.KindGroup, ID: g.ID, Problem: "its row is not stored under its id"})
		case !st.ColumnIsNull(2):
			sizes = append(sizes, g)
			return nil
		}
		return withoutCampaign("read group sizes", g.ID, st.ColumnInt64(3))
	}, after, int64(limit))
	if err != nil || len(sizes) == 0 {
		return nil, err
	}
	first, last := sizes[0].ID, sizes[len(sizes)-1].ID
	at, none := 0, &backend.GroupSize{}
	find := func(id uint64) *backend.GroupSize {
		if sizes[at].ID == id {
			return &sizes[at]
		}
		i, found := slices.BinarySearchFunc(sizes, id, func(g backend.GroupSize, id uint64) int { return cmp.Compare(g.ID, id) })
		if !found {
			return none // a row of a missing group
		}
		at = i
		return &sizes[at]
	}
	// The order of the table puts equal words of a group next to each other, so distinct words are counted by
	// comparing neighbours.
	var words, before []byte
	group := uint64(0)
	err = c.query("SELECT group_id, words FROM keyword WHERE group_id BETWEEN ? AND ? ORDER BY group_id, words", func(st *zs.Stmt) error {
		id := uint64(st.ColumnInt64(0))
		words = columnBytes(st, 1, words)
		g := find(id)
		g.Keywords++
		if id != group || string(words) != string(before) {
			g.Lexicon++
		}
		group, words, before = id, before, words
		return nil
	}, first, last)
	if err != nil {
		return nil, err
	}
	at = 0
	err = c.query("SELECT group_id, count(*) FROM ad WHERE group_id BETWEEN ? AND ? GROUP BY group_id", func(st *zs.Stmt) error {
		find(uint64(st.ColumnInt64(0))).Ads = uint32(st.ColumnInt64(1))
		return nil
	}, first, last)
	return sizes, err
}

// columnBytes reads a column into buf, which grows as needed.
func columnBytes(st *zs.Stmt, i int, buf []byte) []byte {
	n := st.ColumnLen(i)
	if cap(buf) < n {
		buf = make([]byte, n, 2*n)
	}
	buf = buf[:n]
	st.ColumnBytes(i, buf)
	return buf
}
