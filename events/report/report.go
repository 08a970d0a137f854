// Package report makes reports of counts: it adds names from the backend database to the rows of a store of
// events.
//
// An event has a hash of its query's words. The words are stored nowhere, since users' queries are not for the
// operator to know. So a report shows the words of a query only if they are, word for word, a keyword of the
// displayed campaign: then they are the advertiser's own words. It gives only the number of the other queries.
//
// Goals: reports of any length in little memory (the keywords of one campaign, and the ids of the groups of the
// campaigns in the report); exact sums. Non-goals: words of other queries, learned rates (package quality).
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
	// AdvertiserName and CampaignName are "" if the advertiser or the campaign was removed.
	AdvertiserName, CampaignName string
	// Text and MatchType are those of a keyword. They are "" if it was removed, or if the line is not about a
	// keyword.
	Text, MatchType string
	// Words are the words of a query, or "".
	Words string
	// Queries is the number of queries that the line adds up. It is 0 if the number is unknown or the report is
	// not about queries.
	Queries uint64
}

// Run makes a report and calls `line` with each of its lines, in the order of advertisers and campaigns. It
// returns the number of damaged entities, whose names are missing. Errors: those of the store, of the snapshot
// and of `line`.
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
	last   Line                // has the names of the current advertiser and campaign
	others map[store.Day]*Line // sums of the current campaign's queries whose words are not known, by day
}

// campaigns finds the groups of each campaign in the report.
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

// row makes a line of a row, or adds it to the other queries of its day.
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

// campaign begins a new campaign: it looks up its names and reads its keywords.
func (r *run) campaign(ctx context.Context, row store.Row) (err error) {
	r.last = Line{Row: row}
	r.last.AdvertiserName, r.last.CampaignName, err = r.names.lookUp(ctx, row.Campaign)
	if err == nil && r.q.By != store.ByCampaign {
		err = r.names.read(ctx, row.Campaign)
	}
	return err
}

// other adds a query whose words are not known to the sum for its day.
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

// flush ends a campaign: it writes the lines of the other queries.
func (r *run) flush() error {
	for _, day := range slices.Sorted(maps.Keys(r.others)) {
		if err := r.line(r.others[day]); err != nil {
			return err
		}
	}
	clear(r.others)
	return nil
}
