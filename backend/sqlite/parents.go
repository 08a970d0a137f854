package sqlite

import (
	"cmp"
	"context"
	"slices"

	zs "zombiezen.com/go/sqlite"

	"adshard/backend"
	"adshard/backend/upsert"
	"adshard/search"
)

const (
	selectAdvertiser = "SELECT id, name, sum, summed, version, " + advertiserColumns + " FROM advertiser"
	selectCampaign   = "SELECT id, advertiser_id, name, budget_exhausted, withheld, hold, sum, summed, version, " + campaignColumns + " FROM campaign"
)

// Advertisers implements backend.Snapshot.
func (n *snapshot) Advertisers(ctx context.Context, ids []uint64) ([]*backend.Advertiser, error) {
	var list []*backend.Advertiser
	err := n.read(ctx, "read advertisers", func(c *conn) error {
		r, err := readAdvertisers(c, ids)
		if err != nil {
			return err
		}
		list = r.list
		for i, a := range list {
			if err := c.checked("read advertisers", backend.KindAdvertiser, a.ID, r.stored[i], r.rows[i]); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return list, nil
}

// parents holds advertisers or campaigns with their stored sums and the sums of the rows read.
type parents[T any] struct {
	list   []*T
	stored []stored
	rows   []sum
}

func readAdvertisers(c *conn, ids []uint64) (r parents[backend.Advertiser], err error) {
	var h hasher
	err = byIDs(c, selectAdvertiser, ids, func(st *zs.Stmt) error {
		a := scanAdvertiser(st)
		r.list = append(r.list, &a)
		r.stored = append(r.stored, scanStored(st, 2))
		r.rows = append(r.rows, h.advertiser(a.ID, a.Name, &a.AdvertiserSettings))
		return nil
	})
	if err == nil {
		err = advertisersOwn.negatives(c, &h, &r, ids == nil)
	}
	return r, err
}

// Campaigns implements backend.Snapshot.
func (n *snapshot) Campaigns(ctx context.Context, ids []uint64) ([]*backend.Campaign, error) {
	var list []*backend.Campaign
	err := n.read(ctx, "read campaigns", func(c *conn) error {
		r, err := readCampaigns(c, ids)
		if err != nil {
			return err
		}
		list = r.list
		for i, p := range list {
			if err := c.checked("read campaigns", backend.KindCampaign, p.ID, r.stored[i], r.rows[i]); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return list, nil
}

func readCampaigns(c *conn, ids []uint64) (r parents[backend.Campaign], err error) {
	var h hasher
	err = byIDs(c, selectCampaign, ids, func(st *zs.Stmt) error {
		p := scanCampaign(st)
		r.list = append(r.list, &p)
		r.stored = append(r.stored, scanStored(st, 6))
		r.rows = append(r.rows, h.campaign(p.ID, p.AdvertiserID, p.Name, &p.CampaignSettings)+h.budget(p.ID, budgetMark{p.BudgetExhausted, p.Withheld}))
		return nil
	})
	if err == nil {
		err = campaignsOwn.negatives(c, &h, &r, ids == nil)
	}
	return r, err
}

// owner says how the negatives of advertisers or campaigns are read and stored.
type owner[T any] struct {
	table childSQL[upsert.Phrase, upsert.Negative]
	sql   string // selects the columns that scanNegative reads, for all owners
	id    string // the column of the owners
	of    func(*T) (id uint64, negatives *[]backend.Negative)
	name  func(n *backend.Negative, id uint64) // sets the owner of n
}

var (
	campaignsOwn = owner[backend.Campaign]{
		campaignNegativeSQL, "SELECT campaign_id, id, text, words, type, enabled FROM campaign_negative", "campaign_id",
		func(c *backend.Campaign) (uint64, *[]backend.Negative) { return c.ID, &c.Negatives },
		func(n *backend.Negative, id uint64) { n.CampaignID = id },
	}
	advertisersOwn = owner[backend.Advertiser]{
		advertiserNegativeSQL, "SELECT advertiser_id, id, text, words, type, enabled FROM advertiser_negative", "advertiser_id",
		func(a *backend.Advertiser) (uint64, *[]backend.Negative) { return a.ID, &a.Negatives },
		func(n *backend.Negative, id uint64) { n.AdvertiserID = id },
	}
)

// negatives fills in the negatives of the owners in r. all says that r has all owners, in ascending id order. Rows of
// missing owners are left out.
func (o *owner[T]) negatives(c *conn, h *hasher, r *parents[T], all bool) error {
	at := 0
	row := func(st *zs.Stmt) error {
		id := uint64(st.ColumnInt64(0))
		if now, _ := o.of(r.list[at]); now != id {
			next, found := slices.BinarySearchFunc(r.list, id, func(p *T, id uint64) int {
				now, _ := o.of(p)
				return cmp.Compare(now, id)
			})
			if !found {
				return nil
			}
			at = next
		}
		n := scanNegative(st)
		o.name(&n, id)
		r.rows[at] += o.table.hash(h, id, n.ID, upsert.Phrase{Words: n.Words, Match: n.Type}, upsert.Negative{Text: n.Text, Enabled: n.Enabled})
		_, list := o.of(r.list[at])
		*list = append(*list, n)
		return nil
	}
	switch {
	case len(r.list) == 0:
	case all:
		if err := c.query(o.sql+" ORDER BY "+o.id, row); err != nil {
			return err
		}
	default:
		for at = range r.list {
			id, _ := o.of(r.list[at])
			if err := c.query(o.sql+" WHERE "+o.id+" = ?", row, id); err != nil {
				return err
			}
		}
	}
	for _, p := range r.list {
		_, list := o.of(p)
		sortNegatives(*list)
	}
	return nil
}

// byIDs runs a SELECT of one table for each id or, if ids is nil, for all rows in ascending id order.
func byIDs(c *conn, sql string, ids []uint64, row func(*zs.Stmt) error) error {
	if ids == nil {
		return c.query(sql+" ORDER BY id", row)
	}
	for _, id := range ids {
		if err := c.query(sql+" WHERE id = ?", row, id); err != nil {
			return err
		}
	}
	return nil
}

func scanAdvertiser(st *zs.Stmt) backend.Advertiser {
	return backend.Advertiser{
		ID: uint64(st.ColumnInt64(0)), Name: st.ColumnText(1), Version: uint64(st.ColumnInt64(4)), AdvertiserSettings: scanAdvertiserSettings(st, 5),
	}
}

func scanCampaign(st *zs.Stmt) backend.Campaign {
	p := backend.Campaign{
		ID: uint64(st.ColumnInt64(0)), AdvertiserID: uint64(st.ColumnInt64(1)), Name: st.ColumnText(2),
		BudgetExhausted: st.ColumnBool(3), Withheld: uint32(st.ColumnInt64(4)), Version: uint64(st.ColumnInt64(8)),
		CampaignSettings: scanCampaignSettings(st, 9),
	}
	p.Hold = backend.Hold(st.ColumnInt64(5))
	return p
}

// scanNegative reads a row of owner, id, text, words, type, enabled.
func scanNegative(st *zs.Stmt) backend.Negative {
	text := st.ColumnText(2)
	return backend.Negative{
		ID: uint64(st.ColumnInt64(1)), Text: text, Words: columnShared(st, 3, text),
		Type: search.MatchType(st.ColumnInt64(4)), Enabled: st.ColumnBool(5),
	}
}
