package postgres

import (
	"cmp"
	"context"
	"slices"

	"github.com/jackc/pgx/v5"

	"adshard/backend"
	"adshard/backend/upsert"
	"adshard/fault"
	"adshard/search"
)

const (
	selectGroups    = "SELECT id, campaign_id, advertiser_id, name, version, hold, " + groupColumns + " FROM adshard.ad_group"
	selectKeywords  = "SELECT group_id, id, type, words, text, " + keywordColumns + " FROM adshard.keyword"
	selectNegatives = "SELECT group_id, id, type, enabled, words, text FROM adshard.group_negative"
	selectAds       = "SELECT group_id, id, enabled, headlines, descriptions, path1, path2, final_url FROM adshard.ad"
)

// Items implements backend.Snapshot.
func (n *snapshot) Items(ctx context.Context, ids []uint64) ([]*backend.Item, error) {
	var list []*backend.Item
	for part := range slices.Chunk(ids, chunkGroups) {
		err := n.read(ctx, "read items", func(ctx context.Context, c *pgx.Conn) error {
			items, err := readItems(ctx, c, " = ANY($1)", signed(part))
			list = append(list, items...)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return inOrder(list, append([]uint64{}, ids...), func(it *backend.Item) uint64 { return it.Group.ID }), nil
}

// readRange returns the groups with ids from `first` to `last`, in ascending order.
func readRange(ctx context.Context, c *pgx.Conn, first, last uint64) ([]*backend.Item, error) {
	list, err := readItems(ctx, c, " BETWEEN $1 AND $2", int64(first), int64(last))
	slices.SortFunc(list, func(a, b *backend.Item) int { return cmp.Compare(a.Group.ID, b.Group.ID) })
	return list, err
}

// itemReader takes the rows of groups, and the rows of what they hold in any order.
type itemReader struct {
	list []*backend.Item
	byID map[uint64]*backend.Item
	last *backend.Item // the item of the last row
}

// readItems reads groups in one round trip. `where` is a condition to append to the column of their ids.
func readItems(ctx context.Context, c *pgx.Conn, where string, args ...any) ([]*backend.Item, error) {
	r := &itemReader{byID: make(map[uint64]*backend.Item)}
	b := &pgx.Batch{}
	b.Queue(selectGroups+" WHERE id"+where, args...).Query(r.groups)
	b.Queue(selectKeywords+" WHERE group_id"+where, args...).Query(r.keywords)
	b.Queue(selectNegatives+" WHERE group_id"+where, args...).Query(r.negatives)
	b.Queue(selectAds+" WHERE group_id"+where, args...).Query(r.ads)
	if err := c.SendBatch(ctx, b).Close(); err != nil {
		return nil, err
	}
	for _, it := range r.list {
		slices.SortFunc(it.Keywords, func(a, b backend.Keyword) int { return cmp.Compare(a.ID, b.ID) })
		slices.SortFunc(it.Ads, func(a, b backend.Ad) int { return cmp.Compare(a.ID, b.ID) })
		sortNegatives(it.Negatives)
	}
	return r.list, nil
}

// of returns the item of a row. Constraints guarantee that it exists.
func (r *itemReader) of(group uint64) *backend.Item {
	if r.last == nil || r.last.Group.ID != group {
		r.last = r.byID[group]
	}
	return r.last
}

func (r *itemReader) groups(rows pgx.Rows) error {
	for rows.Next() {
		it := &backend.Item{}
		g := &it.Group
		var v groupRow
		if err := rows.Scan(v.to(&g.ID, &g.CampaignID, &g.AdvertiserID, &g.Name, &g.Version, &v.Hold)...); err != nil {
			return err
		}
		g.GroupSettings = *v.done()
		r.list = append(r.list, it)
		r.byID[g.ID] = it
	}
	return rows.Err()
}

func (r *itemReader) keywords(rows pgx.Rows) error {
	for rows.Next() {
		k, err := scanKeyword(rows)
		if err != nil {
			return err
		}
		if d := k.Damage(); d != nil {
			return fault.Newf(fault.Corrupt, "postgres: read items", "%w", d)
		}
		it := r.of(k.GroupID)
		it.Keywords = append(it.Keywords, k)
	}
	return rows.Err()
}

func (r *itemReader) negatives(rows pgx.Rows) error {
	return eachNegative(rows, func(group uint64, n backend.Negative) {
		it := r.of(group)
		n.GroupID, n.CampaignID = group, it.Group.CampaignID
		it.Negatives = append(it.Negatives, n)
	})
}

func (r *itemReader) ads(rows pgx.Rows) error {
	var headlines, descriptions []byte
	for rows.Next() {
		var a backend.Ad
		err := rows.Scan(&a.GroupID, &a.ID, &a.Enabled, &headlines, &descriptions, &a.Path1, &a.Path2, &a.FinalURL)
		if err != nil {
			return err
		}
		if a.Headlines, err = upsert.DecodeTexts(headlines); err != nil {
			return err
		}
		if a.Descriptions, err = upsert.DecodeTexts(descriptions); err != nil {
			return err
		}
		it := r.of(a.GroupID)
		it.Ads = append(it.Ads, a)
	}
	return rows.Err()
}

func scanKeyword(row pgx.Row) (k backend.Keyword, err error) {
	var match int16
	var v keywordRow
	err = row.Scan(v.to(&k.GroupID, &k.ID, &match, &k.Words, &k.Text)...)
	k.KeywordSettings = *v.done()
	if k.Text == k.Words {
		k.Text = k.Words // share one string
	}
	k.Type = search.MatchType(match)
	return k, err
}
