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

// chunkGroups is the number of groups that are read together: enough to make statements cheap, few enough to keep
// little in memory.
const chunkGroups = 256

const (
	selectGroup = "SELECT id, campaign_id, (SELECT advertiser_id FROM campaign WHERE id = campaign_id), name, sum, summed, version, hold, " +
		groupColumns + " FROM ad_group"
	selectKeyword  = "SELECT group_id, id, text, words, type, " + keywordColumns + " FROM keyword"
	selectNegative = "SELECT group_id, id, text, words, type, enabled FROM group_negative"
	selectAd       = "SELECT group_id, id, enabled, headlines, descriptions, path1, path2, final_url FROM ad"

	idRange    = " WHERE id BETWEEN ? AND ? ORDER BY id"
	groupRange = " WHERE group_id BETWEEN ? AND ? ORDER BY group_id"
)

// Items implements backend.Snapshot. Groups with neighbouring ids are read together.
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

// denseRun returns how many of the sorted ids follow one another without a gap, but at most chunkGroups.
func denseRun(ids []uint64) int {
	n := 1
	for n < len(ids) && n < chunkGroups && ids[n] == ids[n-1]+1 {
		n++
	}
	return n
}

// readItems returns the groups with ids from `first` to `last`, in ascending id order. It compares each with its sum.
func readItems(c *conn, first, last uint64) ([]*backend.Item, error) {
	r, err := readGroups(c, first, last)
	if err != nil {
		return nil, err
	}
	list := make([]*backend.Item, len(r.items))
	for i := range r.items {
		g := &r.items[i].Group
		if err := c.checked("read items", backend.KindGroup, g.ID, r.sums[i].stored, r.sums[i].rows); err != nil {
			return nil, err
		}
		list[i] = &r.items[i]
	}
	return list, nil
}

// itemReader reads a range of groups and what they hold.
type itemReader struct {
	c           *conn
	first, last uint64
	items       []backend.Item
	sums        []struct {
		stored stored
		rows   sum
	}
	at      int // index of the last row's item
	h       hasher
	orphans int // rows of missing groups, which are left out
}

// readGroups reads groups without comparing their sums. It returns fault.Corrupt for a group whose campaign is
// missing.
func readGroups(c *conn, first, last uint64) (*itemReader, error) {
	r := &itemReader{c: c, first: first, last: last}
	if last-first < chunkGroups {
		r.items = make([]backend.Item, 0, last-first+1)
	}
	if err := c.query(selectGroup+idRange, r.group, first, last); err != nil || len(r.items) == 0 {
		return r, err
	}
	for _, read := range []func() error{r.keywords, r.negatives, r.ads} {
		r.at = 0
		if err := read(); err != nil {
			return r, err
		}
	}
	return r, nil
}

// group takes a row of selectGroup.
func (r *itemReader) group(st *zs.Stmt) error {
	g, s := scanGroup(st), scanStored(st, 4)
	if st.ColumnIsNull(2) { // no campaign
		return withoutCampaign("read items", g.ID, int64(s.version))
	}
	rows := r.h.group(g.ID, g.CampaignID, g.Name, &g.GroupSettings) + r.h.groupOwner(g.ID, g.AdvertiserID)
	r.items = append(r.items, backend.Item{Group: g})
	r.sums = append(r.sums, struct {
		stored stored
		rows   sum
	}{s, rows})
	return nil
}

// withoutCampaign returns the error for a group without a campaign. A group without a campaign that another program
// inserted has no version, either, and is skipped.
func withoutCampaign(op string, id uint64, version int64) error {
	if version == 0 {
		return nil
	}
	return corrupt(op, &backend.Damage{Kind: backend.KindGroup, ID: id, Problem: "its campaign is missing"})
}

// find returns the index of a group, or −1 if it is missing. Rows come by ascending group id.
func (r *itemReader) find(id uint64) int {
	if r.items[r.at].Group.ID == id {
		return r.at
	}
	at, found := slices.BinarySearchFunc(r.items, id, func(it backend.Item, id uint64) int { return cmp.Compare(it.Group.ID, id) })
	if !found {
		r.orphans++
		return -1
	}
	r.at = at
	return at
}

// keywords reads all keywords into one array; each item gets its part of the array.
func (r *itemReader) keywords() error {
	all := make([]backend.Keyword, 0, 12*len(r.items))
	err := r.c.query(selectKeyword+groupRange, func(st *zs.Stmt) error {
		k := scanKeyword(st)
		if at := r.find(k.GroupID); at >= 0 {
			if d := k.Damage(); d != nil {
				return corrupt("read items", d)
			}
			r.sums[at].rows += r.h.keyword(k.GroupID, k.ID, upsert.Phrase{Words: k.Words, Match: k.Type}, k.Text, &k.KeywordSettings)
			all = append(all, k)
		}
		return nil
	}, r.first, r.last)
	for len(all) > 0 {
		n, group := 1, all[0].GroupID
		for n < len(all) && all[n].GroupID == group {
			n++
		}
		part := all[:n:n]
		all = all[n:]
		slices.SortFunc(part, func(a, b backend.Keyword) int { return cmp.Compare(a.ID, b.ID) })
		r.items[r.find(group)].Keywords = part
	}
	return err
}

func (r *itemReader) negatives() error {
	err := r.c.query(selectNegative+groupRange, func(st *zs.Stmt) error {
		at := r.find(uint64(st.ColumnInt64(0)))
		if at < 0 {
			return nil
		}
		it := &r.items[at]
		n := scanNegative(st)
		n.CampaignID, n.GroupID = it.Group.CampaignID, it.Group.ID
		r.sums[at].rows += r.h.negative(rowGroupNegative, n.GroupID, n.ID, upsert.Phrase{Words: n.Words, Match: n.Type}, upsert.Negative{Text: n.Text, Enabled: n.Enabled})
		it.Negatives = append(it.Negatives, n)
		return nil
	}, r.first, r.last)
	for i := range r.items {
		sortNegatives(r.items[i].Negatives)
	}
	return err
}

func (r *itemReader) ads() error {
	var headlines, descriptions []byte
	err := r.c.query(selectAd+groupRange, func(st *zs.Stmt) (err error) {
		at := r.find(uint64(st.ColumnInt64(0)))
		if at < 0 {
			return nil
		}
		it := &r.items[at]
		a := backend.Ad{
			ID: uint64(st.ColumnInt64(1)), GroupID: it.Group.ID, Enabled: st.ColumnBool(2),
			Path1: st.ColumnText(5), Path2: st.ColumnText(6), FinalURL: st.ColumnText(7),
		}
		headlines, descriptions = columnBytes(st, 3, headlines), columnBytes(st, 4, descriptions)
		key := upsert.Content{Path1: a.Path1, Path2: a.Path2, FinalURL: a.FinalURL}
		r.sums[at].rows += ad(&r.h, a.GroupID, a.ID, headlines, descriptions, key, a.Enabled)
		if a.Headlines, err = upsert.DecodeTexts(headlines); err == nil {
			a.Descriptions, err = upsert.DecodeTexts(descriptions)
		}
		it.Ads = append(it.Ads, a)
		return err
	}, r.first, r.last)
	for i := range r.items {
		slices.SortFunc(r.items[i].Ads, func(a, b backend.Ad) int { return cmp.Compare(a.ID, b.ID) })
	}
	return err
}

func scanGroup(st *zs.Stmt) backend.Group {
	g := backend.Group{
		ID: uint64(st.ColumnInt64(0)), CampaignID: uint64(st.ColumnInt64(1)), AdvertiserID: uint64(st.ColumnInt64(2)),
		Name: st.ColumnText(3), Version: uint64(st.ColumnInt64(6)), GroupSettings: scanGroupSettings(st, 8),
	}
	g.Hold = backend.Hold(st.ColumnInt64(7))
	return g
}

func scanKeyword(st *zs.Stmt) backend.Keyword {
	text := st.ColumnText(2)
	return backend.Keyword{
		GroupID: uint64(st.ColumnInt64(0)), ID: uint64(st.ColumnInt64(1)), Text: text, Words: columnShared(st, 3, text),
		Type: search.MatchType(st.ColumnInt64(4)), KeywordSettings: scanKeywordSettings(st, 5),
	}
}

// columnShared reads a text column that is often equal to `text`, and then shares its memory.
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
