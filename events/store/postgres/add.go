package postgres

import (
	"bytes"
	"context"

	"github.com/jackc/pgx/v5"

	"adshard/events/store"
	"adshard/events/token"
)

// addSQL does all of Add in one statement, and so in one transaction and one round trip. Until
// the commit, the horizon cannot change, since Forget and Erase wait for its lock. The
// statement returns the horizons, as rows with kind 0, by advertiser (0 for the horizon of
// all), and the events that were added.
const addSQL = `WITH horizon AS MATERIALIZED (SELECT id, erased FROM adshard_events.horizon FOR SHARE),
given AS (SELECT g.* FROM horizon h, unnest($1::bytea[], $2::smallint[], $3::integer[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[],
    $8::smallint[], $9::bigint[], $10::bigint[]) AS g (id, kind, day, advertiser, campaign, keyword, ad, position, price, query)
  WHERE g.id >= h.id AND (h.erased = '{}' OR g.id >= coalesce(decode(h.erased ->> g.advertiser::text, 'hex'), ''))),
added AS (INSERT INTO adshard_events.raw (id, kind, day, advertiser, campaign, keyword, ad, position, price, query)
  SELECT * FROM given ORDER BY id, kind ON CONFLICT DO NOTHING RETURNING id, kind, campaign, day, price),
summed AS (INSERT INTO adshard_events.spent (campaign, day, part, impressions, clicks, spend)
  SELECT campaign, day, $11::smallint, count(*) FILTER (WHERE kind = 1), count(*) FILTER (WHERE kind = 2),
    coalesce(sum(price) FILTER (WHERE kind = 2), 0)::bigint FROM added GROUP BY campaign, day ORDER BY campaign, day
  ON CONFLICT (campaign, day, part) DO UPDATE SET impressions = spent.impressions + excluded.impressions,
    clicks = spent.clicks + excluded.clicks, spend = spent.spend + excluded.spend)
SELECT id, 0::smallint, 0::bigint FROM horizon
UNION ALL SELECT decode(e.value, 'hex'), 0::smallint, e.key::bigint FROM horizon, jsonb_each_text(erased) e
UNION ALL SELECT id, kind, 0::bigint FROM added`

// eventKey identifies an event.
type eventKey struct {
	id   token.ID
	kind store.Kind
}

// Add implements store.Store.
func (s *Store) Add(ctx context.Context, events []store.Event) ([]store.Outcome, error) {
	if err := store.Validate(events); err != nil || len(events) == 0 {
		return nil, err
	}
	rows, err := s.pool.Query(ctx, addSQL, append(columns(events), s.part)...)
	if err != nil {
		return nil, failed(ctx, "add", err)
	}
	var id []byte
	var kind int16
	var advertiser int64
	refused := make(map[uint64][]byte) // the least id that is accepted, by advertiser
	added := make(map[eventKey]bool, len(events))
	_, err = pgx.ForEachRow(rows, []any{&id, &kind, &advertiser}, func() error {
		if kind == 0 {
			refused[uint64(advertiser)] = bytes.Clone(id)
		} else {
			added[eventKey{token.ID(id), store.Kind(kind)}] = true
		}
		return nil
	})
	if err != nil {
		return nil, failed(ctx, "add", err)
	}
	return outcomes(events, refused, added), nil
}

// outcomes returns the outcome of each event. If a batch has the same event twice, the first
// one was added.
func outcomes(events []store.Event, refused map[uint64][]byte, added map[eventKey]bool) []store.Outcome {
	out := make([]store.Outcome, len(events))
	for i := range events {
		e := &events[i]
		key := eventKey{e.ID, e.Kind}
		switch {
		case bytes.Compare(e.ID[:], refused[0]) < 0, bytes.Compare(e.ID[:], refused[e.Token.Advertiser]) < 0:
			out[i] = store.Forgotten
		case added[key]:
			out[i] = store.Counted
			delete(added, key)
		default:
			out[i] = store.Duplicate
		}
	}
	return out
}

// columns returns the columns of events as arguments of addSQL.
func columns(events []store.Event) []any {
	n := len(events)
	ids, kinds, days, positions := make([][]byte, n), make([]int16, n), make([]int32, n), make([]int16, n)
	var numbers [6][]int64
	for i := range numbers {
		numbers[i] = make([]int64, n)
	}
	for i := range events {
		e := &events[i]
		t := &e.Token
		ids[i], kinds[i], days[i], positions[i] = e.ID[:], int16(e.Kind), int32(e.Day), int16(t.Position)
		for j, v := range [...]uint64{t.Advertiser, t.Campaign, t.Keyword, t.Ad, t.Price, t.Query} {
			numbers[j][i] = int64(v)
		}
	}
	return []any{ids, kinds, days, numbers[0], numbers[1], numbers[2], numbers[3], positions, numbers[4], numbers[5]}
}

// Sums implements store.Store.
func (s *Store) Sums(ctx context.Context, from store.Day, campaigns ...uint64) ([]store.Sum, error) {
	var only []int64 // nil for all
	for _, c := range campaigns {
		only = append(only, int64(c))
	}
	rows, err := s.pool.Query(ctx, `SELECT campaign, day, sum(impressions)::bigint, sum(clicks)::bigint, sum(spend)::bigint FROM adshard_events.spent
  WHERE day >= $1 AND ($2::bigint[] IS NULL OR campaign = ANY($2)) GROUP BY campaign, day ORDER BY campaign, day`, int32(from), only)
	if err != nil {
		return nil, failed(ctx, "sums", err)
	}
	out, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (x store.Sum, err error) {
		var n [4]int64
		var day int32
		err = row.Scan(&n[0], &day, &n[1], &n[2], &n[3])
		return store.Sum{Campaign: uint64(n[0]), Day: store.Day(day), Impressions: uint64(n[1]), Clicks: uint64(n[2]), Spend: uint64(n[3])}, err
	})
	return out, failed(ctx, "sums", err)
}

// Marks implements store.Store.
func (s *Store) Marks(ctx context.Context) ([]store.Mark, error) {
	rows, err := s.pool.Query(ctx, "SELECT campaign, day FROM adshard_events.mark ORDER BY campaign")
	if err != nil {
		return nil, failed(ctx, "marks", err)
	}
	out, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (store.Mark, error) {
		var campaign int64
		var day int32
		err := row.Scan(&campaign, &day)
		return store.Mark{Campaign: uint64(campaign), Day: store.Day(day)}, err
	})
	return out, failed(ctx, "marks", err)
}

// SetMark implements store.Store.
func (s *Store) SetMark(ctx context.Context, m store.Mark) error {
	return s.execute(ctx, "set mark", "INSERT INTO adshard_events.mark VALUES ($1, $2) ON CONFLICT (campaign) DO UPDATE SET day = $2",
		int64(m.Campaign), int32(m.Day))
}

// ClearMark implements store.Store.
func (s *Store) ClearMark(ctx context.Context, m store.Mark) error {
	return s.execute(ctx, "clear mark", "DELETE FROM adshard_events.mark WHERE campaign = $1 AND day = $2", int64(m.Campaign), int32(m.Day))
}

func (s *Store) execute(ctx context.Context, op, sql string, args ...any) error {
	_, err := s.pool.Exec(ctx, sql, args...)
	return failed(ctx, op, err)
}
