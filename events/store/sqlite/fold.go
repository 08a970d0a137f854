package sqlite

import (
	"context"
	"encoding/json"
	"time"

	zs "zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"adshard/events/store"
	"adshard/events/token"
)

// foldedKey is the key of a count.
const foldedKey = "advertiser, campaign, keyword, day, ad, position"

// foldSQL adds the oldest events with ids below ?1, at most ?2 of them, to the counts.
const foldSQL = `INSERT INTO folded (` + foldedKey + `, impressions, clicks, spend)
  SELECT ` + foldedKey + `, sum(kind = 1), sum(kind = 2), sum(CASE kind WHEN 2 THEN price ELSE 0 END)
    FROM (SELECT * FROM raw WHERE id < ?1 ORDER BY id, kind LIMIT ?2) WHERE true GROUP BY ` + foldedKey + `
  ON CONFLICT (` + foldedKey + `)
  DO UPDATE SET impressions = impressions + excluded.impressions, clicks = clicks + excluded.clicks, spend = spend + excluded.spend`

// Forget implements store.Store.
func (s *Store) Forget(ctx context.Context, before time.Time, limit int) (removed int, err error) {
	err = s.writing(ctx, "forget", func(c *zs.Conn) error {
		newest, err := oneID(c, "SELECT id FROM raw ORDER BY id DESC LIMIT 1")
		if err != nil || newest == nil {
			return err
		}
		id := store.Horizon(before, token.ID(newest))
		for _, step := range []struct {
			sql  string
			args []any
		}{
			{"UPDATE horizon SET id = ?1 WHERE id < ?1", []any{id[:]}},
			{"DELETE FROM erased WHERE id <= (SELECT id FROM horizon)", nil},
			{foldSQL, []any{id[:], limit}},
			{"DELETE FROM raw WHERE (id, kind) IN (SELECT id, kind FROM raw WHERE id < ? ORDER BY id, kind LIMIT ?)", []any{id[:], limit}},
		} {
			if err := sqlitex.Execute(c, step.sql, &sqlitex.ExecOptions{Args: step.args}); err != nil {
				return err
			}
		}
		removed = c.Changes()
		return nil
	})
	return removed, err
}

// Report implements store.Store. SQLite sorts and adds up the rows, in a temporary file if
// there are many.
func (s *Store) Report(ctx context.Context, q store.Query, row func(store.Row) error) error {
	var refused error // an error of row, which is not one of the file
	err := s.read(ctx, "report", store.ReportSQL(q, ""), func(st *zs.Stmt) error {
		var n [store.ReportColumns]int64
		for i := range n {
			n[i] = st.ColumnInt64(i)
		}
		refused = row(store.ScanReport(n))
		return refused
	})
	if refused != nil {
		return refused
	}
	return err
}

// Erase implements store.Store.
func (s *Store) Erase(ctx context.Context, e *store.Erasure, limit int) (did store.Step, err error) {
	if err := e.Validate(); err != nil {
		return did, err
	}
	next := *e
	err = s.writing(ctx, "erase", func(c *zs.Conn) error {
		until := token.From(e.Before)
		err := sqlitex.Execute(c, "INSERT INTO erased VALUES (?, ?) ON CONFLICT (advertiser) DO UPDATE SET id = excluded.id",
			&sqlitex.ExecOptions{Args: []any{int64(e.Advertiser), until[:]}})
		switch {
		case err != nil:
		case e.Part == store.EraseEvents:
			did.Events, err = eraseEvents(c, &next, until, limit)
		case e.Part == store.EraseCounts:
			did.Counts, err = eraseCounts(c, &next, limit)
		}
		return err
	})
	if err != nil {
		return store.Step{}, err
	}
	*e = next
	return did, nil
}

// eraseEvents visits up to limit events and removes those of the advertiser.
func eraseEvents(c *zs.Conn, e *store.Erasure, until token.ID, limit int) (removed int, err error) {
	last, err := oneID(c, "SELECT id FROM raw WHERE id > ? AND id < ? ORDER BY id LIMIT 1 OFFSET ?", e.Seen[:], until[:], limit-1)
	if err != nil {
		return 0, err
	}
	if last == nil {
		last, e.Part = until[:], store.EraseCounts
	}
	gone := make(map[store.SumKey]store.Sum)
	err = sqlitex.Execute(c, "DELETE FROM raw WHERE id > ? AND id <= ? AND id < ? AND advertiser = ? RETURNING campaign, day, kind, price",
		&sqlitex.ExecOptions{Args: []any{e.Seen[:], last, until[:], int64(e.Advertiser)}, ResultFunc: func(st *zs.Stmt) error {
			store.Include(gone, &store.Event{
				Kind: store.Kind(st.ColumnInt64(2)), Day: store.Day(st.ColumnInt64(1)),
				Token: token.Token{Campaign: uint64(st.ColumnInt64(0)), Price: uint64(st.ColumnInt64(3))},
			})
			removed++
			return nil
		}})
	if err == nil {
		e.Seen = token.ID(last)
		err = takeOff(c, gone)
	}
	return removed, err
}

// eraseCounts removes up to limit rows of counts of the advertiser.
func eraseCounts(c *zs.Conn, e *store.Erasure, limit int) (removed int, err error) {
	campaigns, _ := json.Marshal(append([]uint64{}, e.Campaigns...)) // numbers can always be encoded
	gone := make(map[store.SumKey]store.Sum)
	err = sqlitex.Execute(c, `DELETE FROM folded WHERE (`+foldedKey+`) IN (SELECT `+foldedKey+` FROM folded
  WHERE advertiser IN (?1, 0) AND (advertiser = ?1 OR campaign IN (SELECT value FROM json_each(?2))) LIMIT ?3)
  RETURNING campaign, day, impressions, clicks, spend`,
		&sqlitex.ExecOptions{Args: []any{int64(e.Advertiser), string(campaigns), limit}, ResultFunc: func(st *zs.Stmt) error {
			key := store.SumKey{Campaign: uint64(st.ColumnInt64(0)), Day: store.Day(st.ColumnInt64(1))}
			sum := gone[key]
			gone[key] = store.Sum{Campaign: key.Campaign, Day: key.Day, Impressions: sum.Impressions + uint64(st.ColumnInt64(2)),
				Clicks: sum.Clicks + uint64(st.ColumnInt64(3)), Spend: sum.Spend + uint64(st.ColumnInt64(4))}
			removed++
			return nil
		}})
	if removed < limit {
		e.Part = store.Erased
	}
	if err == nil {
		err = takeOff(c, gone)
	}
	return removed, err
}

// takeOff subtracts removed counts from the sums, and deletes sums that become zero.
func takeOff(c *zs.Conn, gone map[store.SumKey]store.Sum) error {
	for _, g := range gone {
		err := sqlitex.Execute(c, "UPDATE spent SET impressions = impressions - ?3, clicks = clicks - ?4, spend = spend - ?5 WHERE campaign = ?1 AND day = ?2",
			&sqlitex.ExecOptions{Args: []any{int64(g.Campaign), int64(g.Day), int64(g.Impressions), int64(g.Clicks), int64(g.Spend)}})
		if err == nil {
			err = sqlitex.Execute(c, "DELETE FROM spent WHERE campaign = ? AND day = ? AND impressions = 0 AND clicks = 0",
				&sqlitex.ExecOptions{Args: []any{int64(g.Campaign), int64(g.Day)}})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Claim implements store.Store.
func (s *Store) Claim(ctx context.Context, database string) error {
	return s.writing(ctx, "claim", func(c *zs.Conn) error {
		err := sqlitex.Execute(c, "UPDATE horizon SET database = ? WHERE database = ''", &sqlitex.ExecOptions{Args: []any{database}})
		if err != nil {
			return err
		}
		of, err := sqlitex.ResultText(c.Prep("SELECT database FROM horizon"))
		if err != nil {
			return err
		}
		return store.Claimed(of, database)
	})
}

// ID implements store.Store.
func (s *Store) ID(ctx context.Context) (id string, err error) {
	err = s.read(ctx, "id", "SELECT id FROM identity", func(st *zs.Stmt) error {
		id = st.ColumnText(0)
		return nil
	})
	return id, err
}
