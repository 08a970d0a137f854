package collector

import (
	"context"
	"maps"
	"slices"
	"time"

	"adshard/backend"
	"adshard/events"
)

// campaigns are those of a backend database.
type campaigns struct{ backend.Store }

// Budgets implements events.Campaigns.
func (c campaigns) Budgets(ctx context.Context, ids []uint64) ([]events.Budget, error) {
	s, err := c.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	list, err := s.Campaigns(ctx, ids)
	if err != nil {
		return nil, err
	}
	advertisers := make(map[uint64]bool)
	for _, c := range list {
		advertisers[c.AdvertiserID] = true
	}
	zone, err := zones(ctx, s, slices.Collect(maps.Keys(advertisers)))
	if err != nil {
		return nil, err
	}
	out := make([]events.Budget, len(list))
	for i, c := range list {
		out[i] = events.Budget{
			Campaign: c.ID, Advertiser: c.AdvertiserID, Daily: c.DailyBudget, Limited: c.HasBudget, Exhausted: c.BudgetExhausted,
			Zone: zone[c.AdvertiserID], Standard: c.StandardDelivery, Share: backend.WholeShare - c.Withheld,
		}
	}
	return out, nil
}

// Zones implements events.Zones.
func (c campaigns) Zones(ctx context.Context, ids []uint64) (map[uint64]*time.Location, error) {
	s, err := c.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	return zones(ctx, s, ids)
}

// zones reads the time zones of advertisers. One whose name this program does not know, from
// a later one, is UTC: the others' events count all the same.
func zones(ctx context.Context, s backend.Snapshot, ids []uint64) (map[uint64]*time.Location, error) {
	if len(ids) == 0 { // not all of them
		return nil, nil
	}
	list, err := s.Advertisers(ctx, ids)
	if err != nil {
		return nil, err
	}
	out := make(map[uint64]*time.Location, len(list))
	named := make(map[string]*time.Location) // a zone is read from a file
	for _, a := range list {
		if named[a.TimeZone] == nil {
			if named[a.TimeZone], err = backend.LoadZone(a.TimeZone); err != nil {
				named[a.TimeZone] = time.UTC
			}
		}
		out[a.ID] = named[a.TimeZone]
	}
	return out, nil
}

// SetShare implements events.Campaigns.
func (c campaigns) SetShare(ctx context.Context, id uint64, share uint32) error {
	return c.SetBudget(ctx, id, backend.BudgetMark{ShareOnly: true, Share: backend.To(share)})
}

// SetBudgetExhausted implements events.Campaigns.
func (c campaigns) SetBudgetExhausted(ctx context.Context, id uint64, exhausted bool) error {
	return c.SetBudget(ctx, id, backend.BudgetMark{Exhausted: exhausted})
}
