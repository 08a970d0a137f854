package sqlite

import (
	"bytes"
	"context"
	"encoding/json"

	zs "zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"adshard/events/store"
)

// Add implements store.Store.
func (s *Store) Add(ctx context.Context, events []store.Event) ([]store.Outcome, error) {
	if err := store.Validate(events); err != nil || len(events) == 0 {
		return nil, err
	}
	outcomes := make([]store.Outcome, len(events))
	err := s.writing(ctx, "add", func(c *zs.Conn) error { return add(c, events, outcomes) })
	if err != nil {
		return nil, err
	}
	return outcomes, nil
}

// add adds events in a transaction, and records the outcome of each.
func add(c *zs.Conn, events []store.Event, outcomes []store.Outcome) error {
	refused, err := horizons(c)
	if err != nil {
		return err
	}
	st, err := c.Prepare(`INSERT INTO raw (id, kind, day, advertiser, campaign, keyword, ad, position, price, query)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`)
	if err != nil {
		return err
	}
	sums := make(map[store.SumKey]store.Sum)
	for i := range events {
		e := &events[i]
		if bytes.Compare(e.ID[:], refused[0]) < 0 || bytes.Compare(e.ID[:], refused[e.Token.Advertiser]) < 0 {
			outcomes[i] = store.Forgotten
			continue
		}
		if err := insert(st, e); err != nil {
			return err
		}
		if outcomes[i] = store.Duplicate; c.Changes() == 1 {
			outcomes[i] = store.Counted
			store.Include(sums, e)
		}
	}
	return addSums(c, sums)
}

func insert(st *zs.Stmt, e *store.Event) error {
	t := &e.Token
	st.BindBytes(1, e.ID[:])
	for i, n := range [...]int64{
		int64(e.Kind), int64(e.Day), int64(t.Advertiser), int64(t.Campaign), int64(t.Keyword), int64(t.Ad), int64(t.Position), int64(t.Price), int64(t.Query),
	} {
		st.BindInt64(i+2, n)
	}
	if _, err := st.Step(); err != nil {
		return err
	}
	return st.Reset()
}

func addSums(c *zs.Conn, sums map[store.SumKey]store.Sum) error {
	for _, s := range sums {
		err := sqlitex.Execute(c, `INSERT INTO spent (campaign, day, impressions, clicks, spend) VALUES (?, ?, ?, ?, ?) ON CONFLICT (campaign, day)
  DO UPDATE SET impressions = impressions + excluded.impressions, clicks = clicks + excluded.clicks, spend = spend + excluded.spend`,
			&sqlitex.ExecOptions{Args: []any{int64(s.Campaign), int64(s.Day), int64(s.Impressions), int64(s.Clicks), int64(s.Spend)}})
		if err != nil {
			return err
		}
	}
	return nil
}

// horizons returns the least id that is accepted, by advertiser; the entry 0 is for all
// advertisers.
func horizons(c *zs.Conn) (map[uint64][]byte, error) {
	out := make(map[uint64][]byte)
	err := sqlitex.Execute(c, "SELECT 0, id FROM horizon UNION ALL SELECT advertiser, id FROM erased", &sqlitex.ExecOptions{ResultFunc: func(st *zs.Stmt) error {
		id := make([]byte, st.ColumnLen(1))
		st.ColumnBytes(1, id)
		out[uint64(st.ColumnInt64(0))] = id
		return nil
	}})
	return out, err
}

// oneID returns the last id that a statement finds, or nil if it finds none.
func oneID(c *zs.Conn, sql string, args ...any) (id []byte, err error) {
	err = sqlitex.Execute(c, sql, &sqlitex.ExecOptions{Args: args, ResultFunc: func(st *zs.Stmt) error {
		id = make([]byte, st.ColumnLen(0))
		st.ColumnBytes(0, id)
		return nil
	}})
	return id, err
}

// Sums implements store.Store.
func (s *Store) Sums(ctx context.Context, from store.Day, campaigns ...uint64) (out []store.Sum, err error) {
	sql, args := "SELECT campaign, day, impressions, clicks, spend FROM spent WHERE day >= ? ORDER BY campaign, day", []any{int64(from)}
	if len(campaigns) > 0 {
		list, _ := json.Marshal(campaigns) // numbers can always be encoded
		sql = `SELECT campaign, day, impressions, clicks, spend FROM spent
  WHERE campaign IN (SELECT value FROM json_each(?2)) AND day >= ?1 ORDER BY campaign, day`
		args = append(args, string(list))
	}
	err = s.read(ctx, "sums", sql, func(st *zs.Stmt) error {
		out = append(out, store.Sum{Campaign: uint64(st.ColumnInt64(0)), Day: store.Day(st.ColumnInt64(1)),
			Impressions: uint64(st.ColumnInt64(2)), Clicks: uint64(st.ColumnInt64(3)), Spend: uint64(st.ColumnInt64(4))})
		return nil
	}, args...)
	return out, err
}

// Marks implements store.Store.
func (s *Store) Marks(ctx context.Context) (out []store.Mark, err error) {
	err = s.read(ctx, "marks", "SELECT campaign, day FROM mark ORDER BY campaign", func(st *zs.Stmt) error {
		out = append(out, store.Mark{Campaign: uint64(st.ColumnInt64(0)), Day: store.Day(st.ColumnInt64(1))})
		return nil
	})
	return out, err
}

// SetMark implements store.Store.
func (s *Store) SetMark(ctx context.Context, m store.Mark) error {
	return s.execute(ctx, "set mark", "INSERT INTO mark (campaign, day) VALUES (?1, ?2) ON CONFLICT (campaign) DO UPDATE SET day = ?2",
		int64(m.Campaign), int64(m.Day))
}

// ClearMark implements store.Store.
func (s *Store) ClearMark(ctx context.Context, m store.Mark) error {
	return s.execute(ctx, "clear mark", "DELETE FROM mark WHERE campaign = ? AND day = ?", int64(m.Campaign), int64(m.Day))
}

func (s *Store) execute(ctx context.Context, op, sql string, args ...any) error {
	return s.writing(ctx, op, func(c *zs.Conn) error {
		return sqlitex.Execute(c, sql, &sqlitex.ExecOptions{Args: args})
	})
}
