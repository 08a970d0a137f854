package postgres

import (
	"cmp"
	"context"
	"slices"

	"github.com/jackc/pgx/v5"

	"adshard/backend"
	"adshard/search"
)

const (
	selectAdvertisers = "SELECT id, name, version, " + advertiserColumns + " FROM adshard.advertiser"
	selectCampaigns   = "SELECT id, advertiser_id, name, budget_exhausted, withheld, version, hold, " + campaignColumns + " FROM adshard.campaign"
)

// Advertisers implements backend.Snapshot.
func (n *snapshot) Advertisers(ctx context.Context, ids []uint64) (list []*backend.Advertiser, err error) {
	byID := make(map[uint64]*backend.Advertiser)
	err = n.read(ctx, "read advertisers", func(ctx context.Context, c *pgx.Conn) error {
		rows, _ := c.Query(ctx, selectAdvertisers+whereID(ids), idArgs(ids)...)
		list, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (*backend.Advertiser, error) {
			a := &backend.Advertiser{}
			var settings advertiserRow
			err := row.Scan(settings.to(&a.ID, &a.Name, &a.Version)...)
			a.AdvertiserSettings = *settings.done()
			byID[a.ID] = a
			return a, err
		})
		if err != nil {
			return err
		}
		return advertiserNegatives.read(ctx, c, ids, func(owner uint64, g backend.Negative) {
			g.AdvertiserID = owner
			byID[owner].Negatives = append(byID[owner].Negatives, g)
		})
	})
	if err != nil {
		return nil, err
	}
	for _, a := range list {
		sortNegatives(a.Negatives)
	}
	return inOrder(list, ids, func(a *backend.Advertiser) uint64 { return a.ID }), nil
}

// Campaigns implements backend.Snapshot.
func (n *snapshot) Campaigns(ctx context.Context, ids []uint64) (list []*backend.Campaign, err error) {
	byID := make(map[uint64]*backend.Campaign)
	err = n.read(ctx, "read campaigns", func(ctx context.Context, c *pgx.Conn) error {
		rows, _ := c.Query(ctx, selectCampaigns+whereID(ids), idArgs(ids)...)
		list, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (*backend.Campaign, error) {
			p, err := scanCampaign(row)
			byID[p.ID] = p
			return p, err
		})
		if err != nil {
			return err
		}
		return campaignNegatives.read(ctx, c, ids, func(owner uint64, g backend.Negative) {
			g.CampaignID = owner
			byID[owner].Negatives = append(byID[owner].Negatives, g)
		})
	})
	if err != nil {
		return nil, err
	}
	for _, p := range list {
		sortNegatives(p.Negatives)
	}
	return inOrder(list, ids, func(p *backend.Campaign) uint64 { return p.ID }), nil
}

// whereID and idArgs restrict a SELECT of parents to ids. nil selects all, in ascending order.
func whereID(ids []uint64) string {
	if ids == nil {
		return " ORDER BY id"
	}
	return " WHERE id = ANY($1)"
}

func idArgs(ids []uint64) []any {
	if ids == nil {
		return nil
	}
	return []any{signed(ids)}
}

// signed returns ids as PostgreSQL's integers. Ids that are too large become 0, which no entity has.
func signed(ids []uint64) []int64 {
	list := make([]int64, len(ids))
	for i, id := range ids {
		list[i] = max(0, int64(id))
	}
	return list
}

// inOrder returns a list in the order of ids. Some of the ids may be missing from the list or be repeated.
func inOrder[T any](list []*T, ids []uint64, of func(*T) uint64) []*T {
	if ids == nil {
		return list
	}
	byID := make(map[uint64]*T, len(list))
	for _, e := range list {
		byID[of(e)] = e
	}
	ordered := make([]*T, 0, len(ids))
	for _, id := range ids {
		if e := byID[id]; e != nil {
			ordered = append(ordered, e)
		}
	}
	return ordered
}

func scanCampaign(row pgx.Row) (*backend.Campaign, error) {
	p := &backend.Campaign{}
	var settings campaignRow
	err := row.Scan(settings.to(&p.ID, &p.AdvertiserID, &p.Name, &p.BudgetExhausted, &p.Withheld, &p.Version, &settings.Hold)...)
	p.CampaignSettings = *settings.done()
	return p, err
}

// number converts a nullable number that was read.
func number(n *int64) (uint64, bool) {
	if n == nil {
		return 0, false
	}
	return uint64(*n), true
}

func modifier(n *int16) backend.Modifier {
	if n == nil {
		return backend.Modifier{}
	}
	return backend.Modifier{Set: true, Permille: uint16(*n)}
}

// nullable converts a number that may be missing to one that can be written.
func nullable(has bool, n uint64) *int64 {
	if !has {
		return nil
	}
	signed := int64(n)
	return &signed
}

// read reads the negatives of some owners, or of all owners if ids is nil.
func (n negativeTable) read(ctx context.Context, c *pgx.Conn, ids []uint64, f func(owner uint64, n backend.Negative)) error {
	where := ""
	if ids != nil {
		where = " WHERE " + n.owner + " = ANY($1)"
	}
	rows, _ := c.Query(ctx, "SELECT "+n.owner+", id, type, enabled, words, text FROM adshard."+n.name+where, idArgs(ids)...)
	return eachNegative(rows, f)
}

// eachNegative calls f for each row of owner, id, type, enabled, words, text.
func eachNegative(rows pgx.Rows, f func(owner uint64, n backend.Negative)) error {
	var owner int64
	var n backend.Negative
	var match int16
	_, err := pgx.ForEachRow(rows, []any{&owner, &n.ID, &match, &n.Enabled, &n.Words, &n.Text}, func() error {
		n.Type = search.MatchType(match)
		f(uint64(owner), n)
		return nil
	})
	return err
}

func sortNegatives(list []backend.Negative) {
	slices.SortFunc(list, func(a, b backend.Negative) int { return cmp.Compare(a.ID, b.ID) })
}
