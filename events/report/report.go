// Package report makes reports of counts: it adds the names of the backend database to the rows of
// a store of events.
//
// An event has a hash of its query's words, and the words are stored nowhere: users' queries are
// not for the operator to know. So a report shows only queries that are word for word a keyword of
// the displayed campaign, since these words are the advertiser's own. Of the others it says how many there were.
//
// Goals: reports of any length in little memory: the keywords of one campaign and the ids of its
// groups that were shown; exact sums. Non-goals: words of other queries, learned rates (package
// quality).
package report

import (
	"context"
	"maps"
	"slices"

	"adshard/backend"
	"adshard/events/store"
)

// Line is a line of a report.
type Line struct {
	store.Row
	// AdvertiserName and CampaignName are "" for what was removed.
	AdvertiserName, CampaignName string
	// Text and MatchType are a keyword's, or "" if it was removed, or the line is about no
	// keyword.
	Text, MatchType string
	// Words are those of a query, or "".
	Words string
	// Queries is the number of queries of the line, or 0 if it is unknown or the report is not about
	// queries.
	Queries uint64
}

// Run calls line with the lines of a report, by ascending advertiser and campaign. It returns the
// number of damaged entities, whose names are missing. Errors: those of the store, of the snapshot,
// and of line.
func Run(ctx context.Context, s store.Store, names backend.Snapshot, q store.Query, line func(*Line) error) (damaged int, err error) {
	r := &run{q: q, names: known{s: names, campaigns: make(map[uint64][]uint64)}, line: line}
	if q.By != store.ByCampaign {
		if err := r.campaigns(ctx, s); err != nil {
			return 0, err
		}
	}
	err = s.Report(ctx, q, func(row store.Row) error { return r.row(ctx, row) })
	if err == nil {
		err = r.flush()
	}
	return r.names.damaged, err
}

// run is a report that is being made.
type run struct {
	q      store.Query
	names  known
	line   func(*Line) error
	last   Line                // the last line with its names
	others map[store.Day]*Line // queries of the last campaign whose words are not known
}

// campaigns finds the groups that were shown of each campaign.
func (r *run) campaigns(ctx context.Context, s store.Store) error {
	q := r.q
	q.By, q.Daily = store.ByCampaign, false
	err := s.Report(ctx, q, func(row store.Row) error {
		r.names.campaigns[row.Campaign] = nil
		return nil
	})
	if err != nil || len(r.names.campaigns) == 0 {
		return err
	}
	for g, err := range r.names.s.Groups(ctx) {
		if err != nil {
			return err
		}
		if list, shown := r.names.campaigns[g.CampaignID]; shown {
			r.names.campaigns[g.CampaignID] = append(list, g.ID)
		}
	}
	return nil
}

// row makes lines of a row.
func (r *run) row(ctx context.Context, row store.Row) error {
	if row.Campaign != r.last.Campaign || row.Advertiser != r.last.Advertiser {
		if err := r.flush(); err != nil {
			return err
		}
		if err := r.campaign(ctx, row); err != nil {
			return err
		}
	}
	l := r.last
	l.Row = row
	switch {
	case r.q.By == store.ByKeyword:
		k := r.names.keywords[row.Keyword]
		l.Text, l.MatchType = k.text, k.matchType
	case r.q.By == store.ByQuery && row.Kept:
		if l.Words = r.names.queries[row.Query]; l.Words == "" {
			r.other(&l)
			return nil
		}
		l.Queries = 1
	}
	return r.line(&l)
}

// campaign begins the next campaign.
func (r *run) campaign(ctx context.Context, row store.Row) (err error) {
	r.last = Line{Row: row}
	r.last.AdvertiserName, r.last.CampaignName, err = r.names.lookUp(ctx, row.Campaign)
	if err == nil && r.q.By != store.ByCampaign {
		err = r.names.read(ctx, row.Campaign)
	}
	return err
}

// other adds a query to those of its day whose words are not known.
func (r *run) other(l *Line) {
	if r.others == nil {
		r.others = make(map[store.Day]*Line)
	}
	sum := r.others[l.Day]
	if sum == nil {
		l.Query = 0
		sum = &Line{Row: l.Row, AdvertiserName: l.AdvertiserName, CampaignName: l.CampaignName}
		r.others[l.Day] = sum
		sum.Impressions, sum.Clicks, sum.Spend = 0, 0, 0
	}
	sum.Queries++
	sum.Impressions, sum.Clicks, sum.Spend = sum.Impressions+l.Impressions, sum.Clicks+l.Clicks, sum.Spend+l.Spend
}

// flush ends a campaign.
func (r *run) flush() error {
	for _, day := range slices.Sorted(maps.Keys(r.others)) {
		if err := r.line(r.others[day]); err != nil {
			return err
		}
	}
	clear(r.others)
	return nil
}
