package sqlite

import (
	"cmp"
	"context"
	"slices"

	"adshard/backend"
	"adshard/search"

	zs "zombiezen.com/go/sqlite"
)

// chunkGroups is how many groups are read together: enough to make statements
// cheap, few enough to keep little in memory.
const chunkGroups = 256

const (
	selectGroup = `SELECT g.id, g.campaign_id, c.advertiser_id, g.name, g.enabled, g.bid, g.desktop, g.mobile, g.tablet, g.version
  FROM ad_group g JOIN campaign c ON c.id = g.campaign_id`
	selectKeyword  = "SELECT group_id, id, text, words, type, enabled, bid, quality FROM keyword"
	selectNegative = "SELECT group_id, id, text, words, type, enabled FROM group_negative"
	selectAd       = "SELECT group_id, id, enabled, headlines, descriptions, path1, path2, final_url FROM ad"

	idRange    = " WHERE g.id BETWEEN ? AND ? ORDER BY g.id"
	groupRange = " WHERE group_id BETWEEN ? AND ? ORDER BY group_id"
)

// Items implements backend.Snapshot. Neighbouring ids are read together.
func (n *snapshot) Items(ctx context.Context, ids []uint64) ([]*backend.Item, error) {
	sorted := slices.Clone(ids)
	slices.Sort(sorted)
	sorted = slices.Compact(sorted)
	found := make(map[uint64]*backend.Item, len(sorted))
	err := n.read(ctx, "read items", func(c *conn) error {
		for len(sorted) > 0 {
			run := denseRun(sorted)
			items, err := readItems(c, sorted[0], sorted[run-1])
			if err != nil {
				return err
			}
			for _, it := range items {
				found[it.Group.ID] = it
			}
			sorted = sorted[run:]
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	items := make([]*backend.Item, 0, len(ids))
	for _, id := range ids {
		if it := found[id]; it != nil {
			items = append(items, it)
		}
	}
	return items, nil
}

// denseRun returns how many of the sorted ids follow one another without a
// gap, at most chunkGroups.
func denseRun(ids []uint64) int {
	n := 1
	for n < len(ids) && n < chunkGroups && ids[n] == ids[n-1]+1 {
		n++
	}
	return n
}

// readItems reads the groups with ids from first to last, by rising id.
func readItems(c *conn, first, last uint64) ([]*backend.Item, error) {
	var items []backend.Item
	if last-first < chunkGroups {
		items = make([]backend.Item, 0, last-first+1)
	}
	err := c.query(selectGroup+idRange, func(st *zs.Stmt) error {
		items = append(items, backend.Item{Group: scanGroup(st)})
		return nil
	}, first, last)
	if err != nil || len(items) == 0 {
		return nil, err
	}
	if err := readKeywords(c, items, first, last); err != nil {
		return nil, err
	}
	if err := readNegatives(c, items, first, last); err != nil {
		return nil, err
	}
	if err := readAds(c, items, first, last); err != nil {
		return nil, err
	}
	list := make([]*backend.Item, len(items))
	for i := range items {
		list[i] = &items[i]
	}
	return list, nil
}

// merge finds the item of rows that come by rising group id.
type merge struct {
	items []backend.Item
	at    int
}

func (m *merge) find(id uint64) *backend.Item {
	for m.items[m.at].Group.ID < id {
		m.at++
	}
	return &m.items[m.at]
}

// readKeywords reads all keywords into one array, of which each item gets its
// part.
func readKeywords(c *conn, items []backend.Item, first, last uint64) error {
	all := make([]backend.Keyword, 0, 12*len(items))
	err := c.query(selectKeyword+groupRange, func(st *zs.Stmt) error {
		all = append(all, scanKeyword(st))
		return nil
	}, first, last)
	m := merge{items: items}
	for len(all) > 0 {
		n, group := 1, all[0].GroupID
		for n < len(all) && all[n].GroupID == group {
			n++
		}
		part := all[:n:n]
		all = all[n:]
		slices.SortFunc(part, func(a, b backend.Keyword) int { return cmp.Compare(a.ID, b.ID) })
		m.find(group).Keywords = part
	}
	return err
}

func readNegatives(c *conn, items []backend.Item, first, last uint64) error {
	m := merge{items: items}
	err := c.query(selectNegative+groupRange, func(st *zs.Stmt) error {
		it := m.find(uint64(st.ColumnInt64(0)))
		n := scanNegative(st)
		n.CampaignID, n.GroupID = it.Group.CampaignID, it.Group.ID
		it.Negatives = append(it.Negatives, n)
		return nil
	}, first, last)
	for i := range items {
		sortNegatives(items[i].Negatives)
	}
	return err
}

func readAds(c *conn, items []backend.Item, first, last uint64) error {
	m := merge{items: items}
	var buf []byte
	err := c.query(selectAd+groupRange, func(st *zs.Stmt) (err error) {
		it := m.find(uint64(st.ColumnInt64(0)))
		ad := backend.Ad{
			ID: uint64(st.ColumnInt64(1)), GroupID: it.Group.ID, Enabled: st.ColumnBool(2),
			Path1: st.ColumnText(5), Path2: st.ColumnText(6), FinalURL: st.ColumnText(7),
		}
		buf = columnBytes(st, 3, buf)
		if ad.Headlines, err = decodeTexts(buf); err != nil {
			return err
		}
		buf = columnBytes(st, 4, buf)
		if ad.Descriptions, err = decodeTexts(buf); err != nil {
			return err
		}
		it.Ads = append(it.Ads, ad)
		return nil
	}, first, last)
	for i := range items {
		slices.SortFunc(items[i].Ads, func(a, b backend.Ad) int { return cmp.Compare(a.ID, b.ID) })
	}
	return err
}

func scanGroup(st *zs.Stmt) backend.Group {
	bid := columnOptional(st, 5)
	return backend.Group{
		ID: uint64(st.ColumnInt64(0)), CampaignID: uint64(st.ColumnInt64(1)), AdvertiserID: uint64(st.ColumnInt64(2)),
		Name: st.ColumnText(3), Enabled: st.ColumnBool(4), Bid: bid.n, HasBid: bid.has,
		Modifiers: scanModifiers(st, 6), Version: uint64(st.ColumnInt64(9)),
	}
}

func scanKeyword(st *zs.Stmt) backend.Keyword {
	text := st.ColumnText(2)
	bid := columnOptional(st, 6)
	return backend.Keyword{
		GroupID: uint64(st.ColumnInt64(0)), ID: uint64(st.ColumnInt64(1)), Text: text, Words: columnShared(st, 3, text),
		Type: search.MatchType(st.ColumnInt64(4)), Enabled: st.ColumnBool(5), Bid: bid.n, HasBid: bid.has,
		Quality: uint8(st.ColumnInt64(7)),
	}
}

// columnShared reads a text column that is often equal to text, and shares its
// memory then.
func columnShared(st *zs.Stmt, i int, text string) string {
	var small [96]byte
	if n := st.ColumnLen(i); n == len(text) && n <= len(small) {
		st.ColumnBytes(i, small[:n])
		if string(small[:n]) == text {
			return text
		}
		return string(small[:n])
	}
	return st.ColumnText(i)
}

func sortNegatives(list []backend.Negative) {
	slices.SortFunc(list, func(a, b backend.Negative) int { return cmp.Compare(a.ID, b.ID) })
}
