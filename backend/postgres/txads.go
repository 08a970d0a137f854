package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"adshard/backend/upsert"
)

// adRows reads and writes the table of ads.
type adRows struct{ t *tx }

// Load implements upsert.Rows.
func (a adRows) Load(ctx context.Context, group uint64, _ int) error {
	return a.t.loadGroup(ctx, group)
}

// Find implements upsert.Rows.
func (a adRows) Find(ctx context.Context, group uint64, k upsert.Content) (*ad, error) {
	rows, _ := a.t.c.Query(ctx, selectAds+` WHERE group_id = $1 AND content = md5(md5($2) || md5($3) || md5($4) || md5($5) || md5($6))
  AND headlines = $2 AND descriptions = $3 AND path1 = $4 AND path2 = $5 AND final_url = $6`,
		int64(group), k.Headlines, k.Descriptions, k.Path1, k.Path2, k.FinalURL)
	list, err := storedAds(rows)
	return first(list), err
}

func storedAds(rows pgx.Rows) ([]*ad, error) {
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (*ad, error) {
		var group, id uint64
		var v upsert.Ad
		var k upsert.Content
		err := row.Scan(&group, &id, &v.Enabled, &k.Headlines, &k.Descriptions, &k.Path1, &k.Path2, &k.FinalURL)
		return upsert.Stored(group, id, k, v), err
	})
}

// byGroupAndID returns the groups and ids of ads. The group is there because it has an index.
func byGroupAndID(rows []*ad) (groups, ids []int64) {
	for _, r := range rows {
		groups, ids = append(groups, int64(r.Owner)), append(ids, int64(r.ID))
	}
	return groups, ids
}

// Remove implements upsert.Rows.
func (a adRows) Remove(ctx context.Context, rows []*ad) error {
	groups, ids := byGroupAndID(rows)
	return a.t.exec(ctx, `DELETE FROM adshard.ad a USING unnest($1::bigint[], $2::bigint[]) AS u (owner, id)
  WHERE a.group_id = u.owner AND a.id = u.id`, groups, ids)
}

// Update implements upsert.Rows.
func (a adRows) Update(ctx context.Context, rows []*ad) error {
	groups, ids := byGroupAndID(rows)
	enabled := make([]bool, 0, len(rows))
	for _, r := range rows {
		enabled = append(enabled, r.Now.Enabled)
	}
	return a.t.exec(ctx, `UPDATE adshard.ad a SET enabled = u.enabled
  FROM unnest($1::bigint[], $2::bigint[], $3::boolean[]) AS u (owner, id, enabled)
  WHERE a.group_id = u.owner AND a.id = u.id`, groups, ids, enabled)
}

// Insert implements upsert.Rows.
func (a adRows) Insert(ctx context.Context, rows []*ad) error {
	columns := []string{"group_id", "headlines", "descriptions", "path1", "path2", "final_url", "id", "enabled"}
	_, err := a.t.c.CopyFrom(ctx, pgx.Identifier{"adshard", "ad"}, columns, pgx.CopyFromSlice(len(rows), func(i int) ([]any, error) {
		r := rows[i]
		k := r.Key
		return []any{int64(r.Owner), k.Headlines, k.Descriptions, k.Path1, k.Path2, k.FinalURL, int64(r.ID), r.Now.Enabled}, nil
	}))
	return err
}
