package collector

import (
	"context"
	"maps"
	"slices"
	"time"

	"adshard/backend"
	"adshard/events"
	"adshard/fault"
	"adshard/targeting/zone"
)

// campaigns gives access to the campaigns of a backend database.
type campaigns struct{ backend.Store }

// Budgets implements events.Campaigns.
func (c campaigns) Budgets(ctx context.Context, ids []uint64) ([]events.Budget, error) {
	s, err := c.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	list, damaged, err := readable(ctx, ids, s.Campaigns)
	if err != nil {
		return nil, err
	}
	advertisers := make(map[uint64]bool)
	for _, c := range list {
		advertisers[c.AdvertiserID] = true
	}
	zone, unknown, err := zones(ctx, s, slices.Collect(maps.Keys(advertisers)))
	if err != nil {
		return nil, err
	}
	out := make([]events.Budget, 0, len(list))
	for _, c := range list {
		if err := unknown[c.AdvertiserID]; err != nil {
			damaged[c.ID] = err
			continue
		}
		out = append(out, events.Budget{
			Campaign: c.ID, Advertiser: c.AdvertiserID, Daily: c.DailyBudget, Limited: c.HasBudget, Exhausted: c.BudgetExhausted,
			Zone: zone[c.AdvertiserID], Standard: c.StandardDelivery, Share: backend.WholeShare - c.Withheld,
		})
	}
	for _, c := range slices.Sorted(maps.Keys(damaged)) {
		out = append(out, events.Budget{Campaign: c, Damage: damaged[c]})
	}
	return out, nil
}

// readable reads entities by id. For each damaged one it returns why that one cannot be read, and
// still reads the others.
func readable[T any](ctx context.Context, ids []uint64, read func(context.Context, []uint64) ([]T, error)) (list []T, damaged map[uint64]error, err error) {
	damaged = make(map[uint64]error)
	if len(ids) == 0 { // an empty list would mean all of them
		return nil, damaged, nil
	}
	list, err = read(ctx, ids)
	if !fault.Is(err, fault.Corrupt) {
		return list, damaged, err
	}
	if len(ids) == 1 {
		damaged[ids[0]] = err
		return nil, damaged, nil
	}
	list = nil
	for _, half := range [][]uint64{ids[:len(ids)/2], ids[len(ids)/2:]} {
		some, bad, err := readable(ctx, half, read)
		if err != nil {
			return nil, nil, err
		}
		list = append(list, some...)
		maps.Copy(damaged, bad)
	}
	return list, damaged, nil
}

// Zones implements events.Zones.
func (c campaigns) Zones(ctx context.Context, ids []uint64) (map[uint64]*time.Location, error) {
	s, err := c.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	out, _, err := zones(ctx, s, ids) // events of a damaged advertiser are counted like those of a deleted one
	return out, err
}

// zones reads the time zones of advertisers. A zone name that this program does not know is taken
// as UTC, so that the events of other advertisers are still counted.
func zones(ctx context.Context, s backend.Snapshot, ids []uint64) (out map[uint64]*time.Location, damaged map[uint64]error, err error) {
	list, damaged, err := readable(ctx, ids, s.Advertisers)
	if err != nil {
		return nil, nil, err
	}
	out = make(map[uint64]*time.Location, len(list))
	named := make(map[string]*time.Location)
	for _, a := range list {
		if named[a.TimeZone] == nil {
			if named[a.TimeZone], err = zone.Load(a.TimeZone); err != nil {
				named[a.TimeZone] = time.UTC
			}
		}
		out[a.ID] = named[a.TimeZone]
	}
	return out, damaged, nil
}

// SetShare implements events.Campaigns.
func (c campaigns) SetShare(ctx context.Context, id uint64, share uint32) error {
	return c.SetBudget(ctx, id, backend.BudgetMark{ShareOnly: true, Share: backend.To(share)})
}

// SetBudgetExhausted implements events.Campaigns.
func (c campaigns) SetBudgetExhausted(ctx context.Context, id uint64, exhausted bool) error {
	return c.SetBudget(ctx, id, backend.BudgetMark{Exhausted: exhausted})
}
