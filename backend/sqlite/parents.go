package sqlite

import (
	"context"
	"strings"

	"adshard/backend"
	"adshard/search"

	zs "zombiezen.com/go/sqlite"
)

const (
	selectAdvertiser = "SELECT id, name, enabled, version FROM advertiser"
	selectCampaign   = `SELECT id, advertiser_id, name, enabled, budget_exhausted, daily_budget, desktop, mobile, tablet,
  languages, rotate_evenly, version FROM campaign`
	selectCampaignNegatives = "SELECT campaign_id, id, text, words, type, enabled FROM campaign_negative"
)

// Advertisers implements backend.Snapshot.
func (n *snapshot) Advertisers(ctx context.Context, ids []uint64) ([]*backend.Advertiser, error) {
	var list []*backend.Advertiser
	err := n.read(ctx, "read advertisers", func(c *conn) error {
		return byIDs(c, selectAdvertiser, ids, func(st *zs.Stmt) error {
			a := scanAdvertiser(st)
			list = append(list, &a)
			return nil
		})
	})
	return list, err
}

// Campaigns implements backend.Snapshot.
func (n *snapshot) Campaigns(ctx context.Context, ids []uint64) ([]*backend.Campaign, error) {
	var list []*backend.Campaign
	err := n.read(ctx, "read campaigns", func(c *conn) error {
		err := byIDs(c, selectCampaign, ids, func(st *zs.Stmt) error {
			p := scanCampaign(st)
			list = append(list, &p)
			return nil
		})
		if err != nil {
			return err
		}
		return readCampaignNegatives(c, list, ids == nil)
	})
	return list, err
}

// byIDs runs a SELECT of one table for each id, or for all rows by rising id
// when ids is nil.
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

// readCampaignNegatives fills in the negatives of campaigns; all says that the
// list is every campaign by rising id.
func readCampaignNegatives(c *conn, list []*backend.Campaign, all bool) error {
	var campaign *backend.Campaign
	at := 0
	row := func(st *zs.Stmt) error {
		id := uint64(st.ColumnInt64(0))
		for campaign == nil || campaign.ID != id {
			campaign = list[at]
			at++
		}
		n := scanNegative(st)
		n.CampaignID = id
		campaign.Negatives = append(campaign.Negatives, n)
		return nil
	}
	if all {
		if err := c.query(selectCampaignNegatives+" ORDER BY campaign_id", row); err != nil {
			return err
		}
	} else {
		for at = range list {
			campaign = list[at]
			if err := c.query(selectCampaignNegatives+" WHERE campaign_id = ?", row, campaign.ID); err != nil {
				return err
			}
		}
	}
	for _, p := range list {
		sortNegatives(p.Negatives)
	}
	return nil
}

func scanAdvertiser(st *zs.Stmt) backend.Advertiser {
	return backend.Advertiser{
		ID: uint64(st.ColumnInt64(0)), Name: st.ColumnText(1), Enabled: st.ColumnBool(2), Version: uint64(st.ColumnInt64(3)),
	}
}

func scanCampaign(st *zs.Stmt) backend.Campaign {
	budget := columnOptional(st, 5)
	return backend.Campaign{
		ID: uint64(st.ColumnInt64(0)), AdvertiserID: uint64(st.ColumnInt64(1)), Name: st.ColumnText(2),
		Enabled: st.ColumnBool(3), BudgetExhausted: st.ColumnBool(4), DailyBudget: budget.n, HasBudget: budget.has,
		Modifiers: scanModifiers(st, 6), Languages: splitLanguages(st.ColumnText(9)), RotateEvenly: st.ColumnBool(10),
		Version: uint64(st.ColumnInt64(11)),
	}
}

func scanModifiers(st *zs.Stmt, first int) (m [search.Devices]backend.Modifier) {
	for i := range m {
		if v := columnOptional(st, first+i); v.has {
			m[i] = backend.Modifier{Set: true, Permille: uint16(v.n)}
		}
	}
	return m
}

// scanNegative reads owner, id, text, words, type, enabled.
func scanNegative(st *zs.Stmt) backend.Negative {
	text := st.ColumnText(2)
	return backend.Negative{
		ID: uint64(st.ColumnInt64(1)), Text: text, Words: columnShared(st, 3, text),
		Type: search.MatchType(st.ColumnInt64(4)), Enabled: st.ColumnBool(5),
	}
}

func splitLanguages(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(s, " ")
}
