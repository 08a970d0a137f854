package postgres

import (
	"context"
	"errors"
	"math"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"adshard/backend"
	"adshard/backend/rekey"
	"adshard/backend/upsert"
	"adshard/fault"
	"adshard/search"
)

var _ backend.Worded = (*Store)(nil)

// Words implements backend.Worded.
func (s *Store) Words(ctx context.Context) (*backend.WordsReport, error) {
	r := &backend.WordsReport{Removed: []backend.RemovedPhrase{}}
	err := s.read(ctx, "read words", func(c *pgx.Conn) error {
		if err := c.QueryRow(ctx, selectWords).Scan(&r.Version); err != nil {
			return err
		}
		rows, _ := c.Query(ctx, `SELECT negative, id, campaign_id, group_id, type, text, enabled, bid IS NOT NULL, coalesce(bid, 0),
  coalesce(quality, 0), kept, why, advertiser_id FROM adshard.removed_phrase ORDER BY negative, id`)
		removed, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (p backend.RemovedPhrase, err error) {
			var match, quality int16
			err = row.Scan(&p.Negative, &p.ID, &p.Campaign, &p.Group, &match, &p.Text, &p.Enabled, &p.HasBid, &p.Bid, &quality, &p.Kept, &p.Why, &p.Advertiser)
			p.Type, p.Quality = search.MatchType(match), uint8(quality)
			return p, err
		})
		r.Removed = append(r.Removed[:0], removed...)
		return err
	})
	return r, err
}

const selectWords = "SELECT words FROM adshard.state"

// Rekeyed implements backend.Worded.
func (s *Store) Rekeyed() int { return s.rekeyed }

// rekey rebuilds the keys of keywords with this program's words.
func (s *Store) rekey(ctx context.Context) (err error) {
	s.rekeyed, err = rekey.Run(ctx, keys{s}, s.options.rekeyed)
	var answer *pgconn.PgError
	if errors.As(err, &answer) && answer.Code == notPermitted {
		return fault.Newf(fault.Unavailable, "postgres: open", "database %s: the keys of keywords are to be made anew:"+
			" open it once as the owner of the schema, as with `adshard db words`: %w", s.name, answer)
	}
	return err
}

// keys implements rekey.Database.
type keys struct{ s *Store }

// phraseTables are the tables whose keys are made from words, with the columns of their owners.
var phraseTables = [rekey.Tables]negativeTable{
	rekey.Keywords: {"keyword", "group_id"}, rekey.GroupNegatives: groupNegatives, rekey.CampaignNegatives: campaignNegatives,
	rekey.AdvertiserNegatives: advertiserNegatives,
}

// Claimed implements rekey.Database.
func (k keys) Claimed(ctx context.Context) (version string, err error) {
	err = k.s.read(ctx, "read words", func(c *pgx.Conn) error { return c.QueryRow(ctx, selectWords).Scan(&version) })
	return version, err
}

// Claim implements rekey.Database. Writers hold the lock (1097093992, 1) in shared mode.
func (k keys) Claim(ctx context.Context, was, version, ifEmpty string) (named string, err error) {
	err = k.s.write(ctx, "note words", `UPDATE adshard.state SET words = CASE WHEN words <> $1 THEN words WHEN EXISTS (SELECT FROM adshard.keyword)
  OR EXISTS (SELECT FROM adshard.group_negative) OR EXISTS (SELECT FROM adshard.campaign_negative)
  OR EXISTS (SELECT FROM adshard.advertiser_negative) THEN $2 ELSE $3 END RETURNING words`,
		[]any{was, version, ifEmpty}, &named)
	if err == nil {
		err = k.s.write(ctx, "wait for writers", "SELECT pg_advisory_xact_lock(1097093992, 1)", nil)
	}
	return named, err
}

// Phrases implements rekey.Database.
func (k keys) Phrases(ctx context.Context, t rekey.Table, f func(owner uint64, key, text string) error) error {
	of := phraseTables[t]
	return k.s.read(ctx, "read keys", func(c *pgx.Conn) error {
		rows, _ := c.Query(ctx, "SELECT "+of.owner+", words, text FROM adshard."+of.name)
		var owner uint64
		var key, text string
		_, err := pgx.ForEachRow(rows, []any{&owner, &key, &text}, func() error { return f(owner, key, text) })
		return err
	})
}

// Change implements rekey.Database.
func (k keys) Change(ctx context.Context, version string, f func(*upsert.Tx, func(backend.RemovedPhrase) error) error) error {
	limits := k.s.limits
	limits.Cached = math.MaxInt32 // more than wholeShare times the rows of any owner
	t, err := k.s.begin(ctx, version, limits)
	if err != nil {
		return err
	}
	err = f(&t.Tx, func(p backend.RemovedPhrase) error { return t.noteRemoved(ctx, &p) })
	if err == nil {
		return t.Commit(ctx)
	}
	err = t.Fail(ctx, err)
	_ = t.Rollback()
	return err
}

// noteRemoved writes a note about a removed phrase.
func (t *tx) noteRemoved(ctx context.Context, p *backend.RemovedPhrase) error {
	var bid, quality any
	if p.HasBid {
		bid = int64(p.Bid)
	}
	if !p.Negative {
		quality = int16(p.Quality)
	}
	return t.exec(ctx, `INSERT INTO adshard.removed_phrase (negative, id, campaign_id, group_id, type, text, enabled, bid, quality, kept, why, advertiser_id)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
		p.Negative, int64(p.ID), int64(p.Campaign), int64(p.Group), int16(p.Type), p.Text, p.Enabled, bid, quality, int64(p.Kept), p.Why, int64(p.Advertiser))
}

// ofOtherWords is the SQLSTATE that begin_write returns to a writer whose keys would be of another version of words
// than the database's.
const ofOtherWords = "AS001"
