package postgres

import (
	"context"
	"strings"

	"github.com/jackc/pgx/v5"

	"adshard/backend"
	"adshard/backend/upsert"
	"adshard/search"
)

type (
	keyword  = upsert.Row[upsert.Phrase, upsert.Keyword]
	negative = upsert.Row[upsert.Phrase, upsert.Negative]
	ad       = upsert.Row[upsert.Content, upsert.Ad]
)

// loadGroup locks a group and reads everything that it holds, in one round trip: a transaction that changes one
// entity of a group usually changes others, too.
func (t *tx) loadGroup(ctx context.Context, group uint64) error {
	var keywords []*keyword
	var negatives []*negative
	var ads []*ad
	b := &pgx.Batch{}
	b.Queue("SELECT FROM adshard.ad_group WHERE id = $1 FOR UPDATE", int64(group))
	b.Queue(selectKeywords+" WHERE group_id = $1 LIMIT $2", int64(group), t.Keywords.Limit()).Query(func(rows pgx.Rows) (err error) {
		keywords, err = storedKeywords(rows)
		return err
	})
	b.Queue(groupNegatives.selected()+" LIMIT $2", int64(group), t.GroupNegatives.Limit()).Query(func(rows pgx.Rows) (err error) {
		negatives, err = storedNegatives(rows)
		return err
	})
	b.Queue(selectAds+" WHERE group_id = $1 LIMIT $2", int64(group), t.Ads.Limit()).Query(func(rows pgx.Rows) (err error) {
		ads, err = storedAds(rows)
		return err
	})
	if err := t.c.SendBatch(ctx, b).Close(); err != nil {
		return err
	}
	if !t.Keywords.Known(group) {
		t.Keywords.Loaded(group, keywords)
	}
	if !t.GroupNegatives.Known(group) {
		t.GroupNegatives.Loaded(group, negatives)
	}
	if !t.Ads.Known(group) {
		t.Ads.Loaded(group, ads)
	}
	return nil
}

// keywordRows reads and writes the table of keywords.
type keywordRows struct{ t *tx }

// Load implements upsert.Rows. It also caches the group's other content.
func (k keywordRows) Load(ctx context.Context, group uint64, _ int) error {
	return k.t.loadGroup(ctx, group)
}

// Find implements upsert.Rows.
func (k keywordRows) Find(ctx context.Context, group uint64, key upsert.Phrase) (*keyword, error) {
	rows, _ := k.t.c.Query(ctx, selectKeywords+" WHERE group_id = $1 AND words = $2 AND type = $3", int64(group), key.Words, int16(key.Match))
	list, err := storedKeywords(rows)
	return first(list), err
}

func first[T any](list []*T) *T {
	if len(list) == 0 {
		return nil
	}
	return list[0]
}

func storedKeywords(rows pgx.Rows) ([]*keyword, error) {
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (*keyword, error) {
		k, err := scanKeyword(row)
		return upsert.Stored(k.GroupID, k.ID, upsert.Phrase{Words: k.Words, Match: k.Type}, upsert.Keyword{Text: k.Text, KeywordSettings: k.KeywordSettings}), err
	})
}

// phrases are the keys of rows as arrays, for statements on many rows.
type phrases struct {
	owners []int64
	words  []string
	types  []int16
}

func phrasesOf[V comparable](rows []*upsert.Row[upsert.Phrase, V]) (p phrases) {
	for _, r := range rows {
		p.owners = append(p.owners, int64(r.Owner))
		p.words = append(p.words, r.Key.Words)
		p.types = append(p.types, int16(r.Key.Match))
	}
	return p
}

// Remove implements upsert.Rows.
func (k keywordRows) Remove(ctx context.Context, rows []*keyword) error {
	p := phrasesOf(rows)
	return k.t.exec(ctx, `DELETE FROM adshard.keyword k USING unnest($1::bigint[], $2::text[], $3::smallint[]) AS u (owner, words, type)
  WHERE k.group_id = u.owner AND k.words = u.words AND k.type = u.type`, p.owners, p.words, p.types)
}

// Update implements upsert.Rows.
func (k keywordRows) Update(ctx context.Context, rows []*keyword) error {
	p := phrasesOf(rows)
	texts := array(rows, func(v *upsert.Keyword) string { return v.Text })
	return k.t.exec(ctx, "UPDATE adshard.keyword k SET text = u.text, "+keywordFromArrays+
		" FROM unnest($1::bigint[], $2::text[], $3::smallint[], $4::text[], "+keywordArrays+") AS u (owner, words, type, text, "+keywordColumns+
		") WHERE k.group_id = u.owner AND k.words = u.words AND k.type = u.type", arraysOfKeywords([]any{p.owners, p.words, p.types, texts}, rows)...)
}

// array returns one column of rows as an array.
func array[V comparable, T any](rows []*upsert.Row[upsert.Phrase, V], of func(*V) T) []T {
	list := make([]T, len(rows))
	for i, r := range rows {
		list[i] = of(&r.Now)
	}
	return list
}

// Insert implements upsert.Rows.
func (k keywordRows) Insert(ctx context.Context, rows []*keyword) error {
	columns := append([]string{"group_id", "words", "type", "id", "text"}, strings.Split(keywordColumns, ", ")...)
	_, err := k.t.c.CopyFrom(ctx, pgx.Identifier{"adshard", "keyword"}, columns, pgx.CopyFromSlice(len(rows), func(i int) ([]any, error) {
		r := rows[i]
		args := append(make([]any, 0, len(columns)), int64(r.Owner), r.Key.Words, int16(r.Key.Match), int64(r.ID), r.Now.Text)
		return appendKeyword(args, &r.Now.KeywordSettings), nil
	}))
	return err
}

// negativeTable is one of the tables of negatives.
type negativeTable struct{ name, owner string }

var (
	groupNegatives      = negativeTable{"group_negative", "group_id"}
	campaignNegatives   = negativeTable{"campaign_negative", "campaign_id"}
	advertiserNegatives = negativeTable{"advertiser_negative", "advertiser_id"}
)

func (n negativeTable) selected() string {
	return "SELECT " + n.owner + ", id, type, enabled, words, text FROM adshard." + n.name + " WHERE " + n.owner + " = $1"
}

// negativeRows reads and writes a table of negatives.
type negativeRows struct {
	t     *tx
	table negativeTable
}

// Load implements upsert.Rows.
func (n negativeRows) Load(ctx context.Context, owner uint64, limit int) error {
	if n.table == groupNegatives {
		return n.t.loadGroup(ctx, owner)
	}
	of, cache := backend.KindCampaign, n.t.CampaignNegatives
	if n.table == advertiserNegatives {
		of, cache = backend.KindAdvertiser, n.t.AdvertiserNegatives
	}
	b := &pgx.Batch{}
	b.Queue("SELECT FROM "+tables[of].name+" WHERE id = $1 FOR NO KEY UPDATE", int64(owner))
	b.Queue(n.table.selected()+" LIMIT $2", int64(owner), limit).Query(func(rows pgx.Rows) error {
		list, err := storedNegatives(rows)
		if err == nil {
			cache.Loaded(owner, list)
		}
		return err
	})
	return n.t.c.SendBatch(ctx, b).Close()
}

// Find implements upsert.Rows.
func (n negativeRows) Find(ctx context.Context, owner uint64, key upsert.Phrase) (*negative, error) {
	rows, _ := n.t.c.Query(ctx, n.table.selected()+" AND words = $2 AND type = $3", int64(owner), key.Words, int16(key.Match))
	list, err := storedNegatives(rows)
	return first(list), err
}

func storedNegatives(rows pgx.Rows) ([]*negative, error) {
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (*negative, error) {
		var owner, id uint64
		var match int16
		var key upsert.Phrase
		var v upsert.Negative
		err := row.Scan(&owner, &id, &match, &v.Enabled, &key.Words, &v.Text)
		key.Match = search.MatchType(match)
		return upsert.Stored(owner, id, key, v), err
	})
}

// Remove implements upsert.Rows.
func (n negativeRows) Remove(ctx context.Context, rows []*negative) error {
	p := phrasesOf(rows)
	return n.t.exec(ctx, "DELETE FROM adshard."+n.table.name+` n USING unnest($1::bigint[], $2::text[], $3::smallint[]) AS u (owner, words, type)
  WHERE n.`+n.table.owner+" = u.owner AND n.words = u.words AND n.type = u.type", p.owners, p.words, p.types)
}

// Update implements upsert.Rows.
func (n negativeRows) Update(ctx context.Context, rows []*negative) error {
	p := phrasesOf(rows)
	texts := array(rows, func(v *upsert.Negative) string { return v.Text })
	enabled := array(rows, func(v *upsert.Negative) bool { return v.Enabled })
	return n.t.exec(ctx, "UPDATE adshard."+n.table.name+` n SET text = u.text, enabled = u.enabled
  FROM unnest($1::bigint[], $2::text[], $3::smallint[], $4::text[], $5::boolean[]) AS u (owner, words, type, text, enabled)
  WHERE n.`+n.table.owner+" = u.owner AND n.words = u.words AND n.type = u.type", p.owners, p.words, p.types, texts, enabled)
}

// Insert implements upsert.Rows.
func (n negativeRows) Insert(ctx context.Context, rows []*negative) error {
	columns := []string{n.table.owner, "words", "type", "id", "text", "enabled"}
	_, err := n.t.c.CopyFrom(ctx, pgx.Identifier{"adshard", n.table.name}, columns, pgx.CopyFromSlice(len(rows), func(i int) ([]any, error) {
		r := rows[i]
		return []any{int64(r.Owner), r.Key.Words, int16(r.Key.Match), int64(r.ID), r.Now.Text, r.Now.Enabled}, nil
	}))
	return err
}
