package collector

import (
	"context"

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
	out := make([]events.Budget, len(list))
	for i, c := range list {
		out[i] = events.Budget{Campaign: c.ID, Advertiser: c.AdvertiserID, Daily: c.DailyBudget, Limited: c.HasBudget, Exhausted: c.BudgetExhausted}
	}
	return out, nil
}

// SetBudgetExhausted implements events.Campaigns.
func (c campaigns) SetBudgetExhausted(ctx context.Context, id uint64, exhausted bool) error {
	return c.SetBudget(ctx, id, backend.BudgetMark{Exhausted: exhausted})
}
