package postgres

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"adshard/events/store"
	"adshard/events/token"
)

// lockFold lets one process at a time fold or erase, so that no two processes lock the same rows in different orders.
const lockFold = "SELECT pg_advisory_xact_lock(hashtext('adshard_events.folded'))"

// foldedKey is the key of a count.
const foldedKey = "advertiser, campaign, keyword, day, ad, position"

// foldSQL removes the oldest events with ids below $1, at most $2 of them, and adds them to the counts.
const foldSQL = `WITH gone AS (DELETE FROM adshard_events.raw WHERE (id, kind) IN (
  SELECT id, kind FROM adshard_events.raw WHERE id < $1 ORDER BY id, kind LIMIT $2) RETURNING ` + foldedKey + `, kind, price),
folded AS (INSERT INTO adshard_events.folded (` + foldedKey + `, impressions, clicks, spend)
  SELECT ` + foldedKey + `, count(*) FILTER (WHERE kind = 1), count(*) FILTER (WHERE kind = 2),
    coalesce(sum(price) FILTER (WHERE kind = 2), 0)::bigint FROM gone GROUP BY ` + foldedKey + `
  ON CONFLICT (` + foldedKey + `) DO UPDATE SET impressions = folded.impressions + excluded.impressions,
    clicks = folded.clicks + excluded.clicks, spend = folded.spend + excluded.spend)
SELECT count(*) FROM gone`

// Forget implements store.Store.
func (s *Store) Forget(ctx context.Context, before time.Time, limit int) (removed int, err error) {
	var newest []byte
	err = s.pool.QueryRow(ctx, "SELECT id FROM adshard_events.raw ORDER BY id DESC LIMIT 1").Scan(&newest)
	if errors.Is(err, pgx.ErrNoRows) {
		return 0, nil
	}
	if err != nil {
		return 0, failed(ctx, "forget", err)
	}
	id := store.Horizon(before, token.ID(newest))
	err = s.execute(ctx, "forget", `UPDATE adshard_events.horizon SET id = $1, erased = (SELECT coalesce(jsonb_object_agg(key, value), '{}')
  FROM jsonb_each_text(erased) WHERE decode(value, 'hex') > $1) WHERE id < $1`, id[:])
	if err != nil {
		return 0, err
	}
	err = s.folding(ctx, "forget", func(tx pgx.Tx) error { return tx.QueryRow(ctx, foldSQL, id[:], limit).Scan(&removed) })
	return removed, err
}

// folding calls f in a transaction that keeps other processes from folding or erasing.
func (s *Store) folding(ctx context.Context, op string, f func(pgx.Tx) error) error {
	return failed(ctx, op, pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, lockFold)
		if err == nil {
			err = f(tx)
		}
		return err
	}))
}

// Report implements store.Store. It reads rows from the server one at a time.
func (s *Store) Report(ctx context.Context, q store.Query, row func(store.Row) error) error {
	rows, err := s.pool.Query(ctx, store.ReportSQL(q, "adshard_events."))
	if err != nil {
		return failed(ctx, "report", err)
	}
	var n [store.ReportColumns]int64
	into := make([]any, len(n))
	for i := range n {
		into[i] = &n[i]
	}
	var refused error
	_, err = pgx.ForEachRow(rows, into, func() error {
		refused = row(store.ScanReport(n))
		return refused
	})
	if refused != nil {
		return refused
	}
	return failed(ctx, "report", err)
}

// Erase implements store.Store.
func (s *Store) Erase(ctx context.Context, e *store.Erasure, limit int) (did store.Step, err error) {
	if err := e.Validate(); err != nil {
		return did, err
	}
	until := token.From(e.Before)
	advertiser := strconv.FormatUint(e.Advertiser, 10)
	// Each Add that has not seen this change has committed before it.
	err = s.execute(ctx, "erase", `UPDATE adshard_events.horizon SET erased = erased || jsonb_build_object($1::text, $2::text)
  WHERE erased ->> $1 IS DISTINCT FROM $2`, advertiser, hex.EncodeToString(until[:]))
	if err != nil {
		return did, err
	}
	next := *e
	err = s.folding(ctx, "erase", func(tx pgx.Tx) (err error) {
		switch e.Part {
		case store.EraseEvents:
			did.Events, err = s.eraseEvents(ctx, tx, &next, until, limit)
		case store.EraseCounts:
			did.Counts, err = s.eraseCounts(ctx, tx, &next, limit)
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
func (s *Store) eraseEvents(ctx context.Context, tx pgx.Tx, e *store.Erasure, until token.ID, limit int) (int, error) {
	var last []byte
	err := tx.QueryRow(ctx, "SELECT id FROM adshard_events.raw WHERE id > $1 AND id < $2 ORDER BY id LIMIT 1 OFFSET $3",
		e.Seen[:], until[:], limit-1).Scan(&last)
	if errors.Is(err, pgx.ErrNoRows) {
		last, e.Part, err = until[:], store.EraseCounts, nil
	}
	if err != nil {
		return 0, err
	}
	removed, err := s.erase(ctx, tx, `DELETE FROM adshard_events.raw WHERE id > $1 AND id <= $2 AND id < $3 AND advertiser = $4
  RETURNING campaign, day, (kind = 1)::integer::bigint, (kind = 2)::integer::bigint, CASE kind WHEN 2 THEN price ELSE 0 END`,
		e.Seen[:], last, until[:], int64(e.Advertiser))
	e.Seen = token.ID(last)
	return removed, err
}

// eraseCounts removes up to limit rows of counts of the advertiser.
func (s *Store) eraseCounts(ctx context.Context, tx pgx.Tx, e *store.Erasure, limit int) (int, error) {
	campaigns := make([]int64, len(e.Campaigns))
	for i, c := range e.Campaigns {
		campaigns[i] = int64(c)
	}
	removed, err := s.erase(ctx, tx, `DELETE FROM adshard_events.folded WHERE (`+foldedKey+`) IN (
  SELECT `+foldedKey+` FROM adshard_events.folded WHERE advertiser IN ($1, 0) AND (advertiser = $1 OR campaign = ANY($2)) LIMIT $3)
  RETURNING campaign, day, impressions, clicks, spend`, int64(e.Advertiser), campaigns, limit)
	if removed < limit {
		e.Part = store.Erased
	}
	return removed, err
}

// erase runs a statement that deletes rows and returns what they counted, and subtracts that from the sums.
func (s *Store) erase(ctx context.Context, tx pgx.Tx, sql string, args ...any) (removed int, err error) {
	rows, err := tx.Query(ctx, sql, args...)
	if err != nil {
		return 0, err
	}
	gone := make(map[store.SumKey][3]int64)
	var campaign, impressions, clicks, spend int64
	var day int32
	_, err = pgx.ForEachRow(rows, []any{&campaign, &day, &impressions, &clicks, &spend}, func() error {
		key := store.SumKey{Campaign: uint64(campaign), Day: store.Day(day)}
		sum := gone[key]
		gone[key] = [3]int64{sum[0] + impressions, sum[1] + clicks, sum[2] + spend}
		removed++
		return nil
	})
	if err != nil || removed == 0 {
		return 0, err
	}
	return removed, s.takeOff(ctx, tx, gone)
}

// takeOff subtracts removed counts from the sums. Each sum becomes a single part, or no part if it is zero: otherwise the parts would show
// what was removed. Parts are locked in the same order as in Add.
func (s *Store) takeOff(ctx context.Context, tx pgx.Tx, gone map[store.SumKey][3]int64) error {
	var campaigns []int64
	var days []int32
	var numbers [3][]int64
	for _, key := range slices.SortedFunc(maps.Keys(gone), func(a, b store.SumKey) int {
		return cmp.Or(cmp.Compare(a.Campaign, b.Campaign), cmp.Compare(a.Day, b.Day))
	}) {
		campaigns, days = append(campaigns, int64(key.Campaign)), append(days, int32(key.Day))
		for i, n := range gone[key] {
			numbers[i] = append(numbers[i], n)
		}
	}
	_, err := tx.Exec(ctx, `SELECT FROM adshard_events.spent WHERE (campaign, day) IN (SELECT * FROM unnest($1::bigint[], $2::integer[]))
  ORDER BY campaign, day, part FOR UPDATE`, campaigns, days)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `WITH gone AS (SELECT * FROM unnest($1::bigint[], $2::integer[], $3::bigint[], $4::bigint[], $5::bigint[]) AS g (campaign, day, i, c, s)),
was AS (DELETE FROM adshard_events.spent USING gone WHERE spent.campaign = gone.campaign AND spent.day = gone.day
  RETURNING spent.campaign, spent.day, impressions, clicks, spend)
INSERT INTO adshard_events.spent SELECT campaign, day, $6::smallint, sum(i), sum(c), sum(s) FROM (
  SELECT campaign, day, impressions AS i, clicks AS c, spend AS s FROM was UNION ALL SELECT campaign, day, -i, -c, -s FROM gone) AS rest
GROUP BY campaign, day HAVING sum(i) <> 0 OR sum(c) <> 0 ORDER BY campaign, day
ON CONFLICT (campaign, day, part) DO UPDATE SET impressions = spent.impressions + excluded.impressions,
  clicks = spent.clicks + excluded.clicks, spend = spent.spend + excluded.spend`, campaigns, days, numbers[0], numbers[1], numbers[2], s.part)
	return err
}

// Claim implements store.Store.
func (s *Store) Claim(ctx context.Context, database string) error {
	var of string
	err := s.pool.QueryRow(ctx, `WITH claimed AS (UPDATE adshard_events.horizon SET database = $1 WHERE database = '' RETURNING database)
SELECT database FROM claimed UNION ALL SELECT database FROM adshard_events.horizon WHERE database <> ''`, database).Scan(&of)
	if errors.Is(err, pgx.ErrNoRows) { // another process has claimed it first
		err = s.pool.QueryRow(ctx, "SELECT database FROM adshard_events.horizon").Scan(&of)
	}
	if err != nil {
		return failed(ctx, "claim", err)
	}
	return store.Claimed(of, database)
}

// ID implements store.Store.
func (s *Store) ID(ctx context.Context) (id string, err error) {
	err = s.pool.QueryRow(ctx, "SELECT id FROM adshard_events.identity").Scan(&id)
	return id, failed(ctx, "id", err)
}
