package sqlite

import (
	"context"
	"math"

	zs "zombiezen.com/go/sqlite"

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
	err := s.read(ctx, "read words", func(c *conn) (err error) {
		if r.Version, err = c.words(); err != nil {
			return err
		}
		return c.query("SELECT negative, id, campaign_id, group_id, type, text, enabled, bid, quality, kept, why, advertiser_id FROM removed_phrase ORDER BY negative, id",
			func(st *zs.Stmt) error {
				bid, hasBid := columnNumber(st, 7)
				r.Removed = append(r.Removed, backend.RemovedPhrase{
					Negative: st.ColumnBool(0), ID: uint64(st.ColumnInt64(1)), Campaign: uint64(st.ColumnInt64(2)), Group: uint64(st.ColumnInt64(3)),
					Type: search.MatchType(st.ColumnInt64(4)), Text: st.ColumnText(5), Enabled: st.ColumnBool(6), HasBid: hasBid, Bid: bid,
					Quality: uint8(st.ColumnInt64(8)), Kept: uint64(st.ColumnInt64(9)), Why: st.ColumnText(10), Advertiser: uint64(st.ColumnInt64(11)),
				})
				return nil
			})
	})
	return r, err
}

// Rekeyed implements backend.Worded.
func (s *Store) Rekeyed() int { return s.rekeyed }

// words returns the version of words that the database names.
func (c *conn) words() (version string, err error) {
	err = c.query("SELECT words FROM state", func(st *zs.Stmt) error {
		version = st.ColumnText(0)
		return nil
	})
	return version, err
}

// rekey rebuilds the keys of keywords with this program's words.
func (s *Store) rekey(ctx context.Context) (err error) {
	s.rekeyed, err = rekey.Run(ctx, keys{s}, s.options.rekeyed)
	return err
}

// keys implements rekey.Database.
type keys struct{ s *Store }

// phraseTables are the tables whose keys are made from words, with the columns of their owners.
var phraseTables = [rekey.Tables]struct{ name, owner string }{
	rekey.Keywords:            {"keyword", "group_id"},
	rekey.GroupNegatives:      {"group_negative", "group_id"},
	rekey.CampaignNegatives:   {"campaign_negative", "campaign_id"},
	rekey.AdvertiserNegatives: {"advertiser_negative", "advertiser_id"},
}

// Claimed implements rekey.Database.
func (k keys) Claimed(ctx context.Context) (version string, err error) {
	err = k.s.read(ctx, "read words", func(c *conn) (err error) {
		version, err = c.words()
		return err
	})
	return version, err
}

// Claim implements rekey.Database. There is only one writer at a time, so it need not wait for others.
func (k keys) Claim(ctx context.Context, was, version, ifEmpty string) (named string, err error) {
	err = k.s.write(ctx, "note words", func(c *conn) error {
		some := int64(0)
		for _, t := range phraseTables {
			n, err := c.number("SELECT EXISTS (SELECT 1 FROM " + t.name + ")")
			if err != nil {
				return err
			}
			some += n
		}
		if some == 0 {
			version = ifEmpty
		}
		if err := c.exec("UPDATE state SET words = ? WHERE words = ?", version, was); err != nil {
			return err
		}
		named, err = c.words()
		return err
	})
	return named, err
}

// Phrases implements rekey.Database.
func (k keys) Phrases(ctx context.Context, t rekey.Table, f func(owner uint64, key, text string) error) error {
	of := phraseTables[t]
	return k.s.read(ctx, "read keys", func(c *conn) error {
		return c.query("SELECT "+of.owner+", words, text FROM "+of.name, func(st *zs.Stmt) error {
			text := st.ColumnText(2)
			return f(uint64(st.ColumnInt64(0)), columnShared(st, 1, text), text)
		})
	})
}

// Change implements rekey.Database.
func (k keys) Change(ctx context.Context, version string, f func(*upsert.Tx, func(backend.RemovedPhrase) error) error) error {
	begun, err := k.s.Begin(ctx)
	if err != nil {
		return err
	}
	t := begun.(*tx)
	t.words = version
	err = f(&t.Tx, func(p backend.RemovedPhrase) error { return t.noteRemoved(&p) })
	if err == nil {
		return t.Commit(ctx)
	}
	err = t.Fail(ctx, err)
	_ = t.Rollback()
	return err
}

// noteRemoved writes a note about a removed phrase.
func (t *tx) noteRemoved(p *backend.RemovedPhrase) error {
	var bid, quality any
	if p.HasBid {
		bid = p.Bid
	}
	if !p.Negative {
		quality = int64(p.Quality)
	}
	return t.write("INSERT INTO removed_phrase (negative, id, campaign_id, group_id, type, text, enabled, bid, quality, kept, why, advertiser_id) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
		p.Negative, p.ID, p.Campaign, p.Group, int64(p.Type), p.Text, p.Enabled, bid, quality, p.Kept, p.Why, p.Advertiser)
}

// announce sets state.since before the first write of a transaction. The database refuses the transaction if its keys
// are of another version of words than the writer's.
func (t *tx) announce() error {
	if t.writing {
		return nil
	}
	t.writing = true
	p, err := t.c.alignClock()
	if err != nil {
		return err
	}
	err = t.c.exec("UPDATE state SET since = ?, writer = ?", p.Clock, t.words)
	if zs.ErrCode(err) == zs.ResultConstraintTrigger {
		return fault.Newf(fault.Version, "sqlite: write", "the keys of keywords in %s are of words of a different version than this program's, %q:"+
			" start the program of the newer version", t.s.path, t.words)
	}
	return err
}

// noted ends what announce began, and stores the ids that the transaction gave.
func (t *tx) noted() error {
	return t.c.exec("UPDATE state SET since = ?, writer = '', keyword = ?, negative = ?, ad = ?",
		int64(math.MaxInt64), t.given.keyword, t.given.negative, t.given.ad)
}
