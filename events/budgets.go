package events

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"adshard/budget"
	"adshard/events/store"
	"adshard/fault"
)

// Budget is what a campaign may spend in a day.
type Budget struct {
	Campaign, Advertiser uint64
	Daily                uint64         // in micros
	Limited              bool           // else there is no limit
	Exhausted            bool           // it is marked, by Budgets or an operator
	Zone                 *time.Location // in which the advertiser's days begin
	Standard             bool           // the budget is spread over the day
	Share                uint32         // requests in a million in which it takes part
	// Damage is why the campaign cannot be read, or nil if it can. Then only Campaign is set, and
	// the campaign is left as it is.
	Damage error
}

// Campaigns are those of the backend.
type Campaigns interface {
	// Budgets returns the budgets of campaigns; missing ones do not exist, and one that cannot be
	// read has its Damage.
	Budgets(ctx context.Context, campaigns []uint64) ([]Budget, error)
	// SetBudgetExhausted marks a campaign; fault.NotFound if there is none.
	SetBudgetExhausted(ctx context.Context, campaign uint64, exhausted bool) error
	// SetShare sets the share of requests in which a campaign takes part, and does not change the
	// mark; fault.NotFound: there is no such campaign.
	SetShare(ctx context.Context, campaign uint64, share uint32) error
}

// Budgets marks campaigns that have spent the budget of their day as exhausted. It removes its own
// marks when that no longer holds: on another day, or with a larger budget. It does not touch marks
// set by others. Several processes may share one store.
//
// A mark is recorded before it is set and removed after it is taken back, so that the successor of
// a process that was killed knows of it.
type Budgets struct {
	Store     store.Store
	Campaigns Campaigns
	Control   Control // also stores the marks (MarksKey)
	Now       func() time.Time

	mu    sync.Mutex
	dirty map[uint64]bool // campaigns with clicks since the last Check; guarded by mu
}

// Note says that events are durable and counted, by this process or another.
func (b *Budgets) Note(durable []store.Event) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.dirty == nil {
		b.dirty = make(map[uint64]bool)
	}
	for i := range durable {
		if durable[i].Kind == store.Click {
			b.dirty[durable[i].Token.Campaign] = true
		}
	}
}

// Check checks the campaigns with clicks since the last call; after an error the next call checks
// them again. Sweep reports damaged campaigns.
func (b *Budgets) Check(ctx context.Context) error {
	b.mu.Lock()
	dirty := b.dirty
	b.dirty = nil
	b.mu.Unlock()
	if len(dirty) == 0 {
		return nil
	}
	_, err := b.check(ctx, slices.Sorted(maps.Keys(dirty)))
	if err != nil {
		b.mu.Lock()
		defer b.mu.Unlock()
		if b.dirty == nil {
			b.dirty = make(map[uint64]bool)
		}
		maps.Copy(b.dirty, dirty)
	}
	return err
}

func firstOf(err, other error) error {
	if err == nil {
		err = other
	}
	return err
}

// Sweep checks all campaigns that spent something recently, and all marks: it catches up on what a
// killed process left undone, new days and changed budgets. It returns the damage of a campaign
// after checking the others.
func (b *Budgets) Sweep(ctx context.Context) error {
	sums, err := b.Store.Sums(ctx, lately(b.Now()))
	if err != nil {
		return err
	}
	marks, err := b.Store.Marks(ctx)
	if err != nil {
		return err
	}
	if err := b.takeBackLost(ctx); err != nil {
		return err
	}
	all := make(map[uint64]bool)
	for _, s := range sums {
		all[s.Campaign] = true
	}
	for _, m := range marks {
		all[m.Campaign] = true
	}
	damage, err := b.check(ctx, slices.Sorted(maps.Keys(all)))
	return firstOf(err, damage)
}

// check sets and removes the marks of some campaigns; damage is why one of them is left as it is.
// It reads marks last, so that it knows of each campaign it sees marked whether Budgets did it.
func (b *Budgets) check(ctx context.Context, campaigns []uint64) (damage, err error) {
	if len(campaigns) == 0 {
		return nil, nil
	}
	budgets, err := b.Campaigns.Budgets(ctx, campaigns)
	if err != nil {
		return nil, err
	}
	budgets, campaigns, damage = undamaged(budgets, campaigns)
	over, err := b.over(ctx, budgets, campaigns)
	if err != nil {
		return damage, err
	}
	marks, err := b.Store.Marks(ctx)
	if err != nil {
		return damage, err
	}
	return damage, b.settle(ctx, campaigns, over, marks)
}

// undamaged leaves out the campaigns that cannot be read, and returns why the first one cannot.
func undamaged(budgets []Budget, campaigns []uint64) (good []Budget, rest []uint64, damage error) {
	bad := make(map[uint64]bool)
	for _, l := range budgets {
		if l.Damage == nil {
			good = append(good, l)
			continue
		}
		bad[l.Campaign], damage = true, firstOf(damage, l.Damage)
	}
	return good, slices.DeleteFunc(campaigns, func(c uint64) bool { return bad[c] }), damage
}

// over returns which campaigns have spent the budget of their day.
func (b *Budgets) over(ctx context.Context, budgets []Budget, campaigns []uint64) (map[uint64]spent, error) {
	over := make(map[uint64]spent)
	if len(budgets) == 0 {
		return over, nil
	}
	now := b.Now()
	today := make(map[store.SumKey]Budget)
	since := store.Day(1<<31 - 1)
	for _, l := range budgets {
		day := number(budget.DayOf(now, l.Zone))
		today[store.SumKey{Campaign: l.Campaign, Day: day}] = l
		since = min(since, day)
	}
	sums, err := b.Store.Sums(ctx, since, campaigns...)
	if err != nil {
		return nil, err
	}
	for _, s := range sums {
		if l, ok := today[store.SumKey{Campaign: s.Campaign, Day: s.Day}]; ok && l.Limited && s.Spend >= l.Daily {
			over[s.Campaign] = spent{s.Day, l.Exhausted}
		}
	}
	return over, nil
}

// spent says of a campaign on which day it has spent its budget, and whether it is marked.
type spent struct {
	day    store.Day
	marked bool
}

// settle makes the marks of campaigns equal to over. It continues after a mark that cannot be set,
// and returns the first error.
func (b *Budgets) settle(ctx context.Context, campaigns []uint64, over map[uint64]spent, marks []store.Mark) (first error) {
	own := make(map[uint64]store.Day, len(marks))
	for _, m := range marks {
		own[m.Campaign] = m.Day
	}
	var begin, end []store.Mark
	for _, c := range campaigns {
		now, exhausted := over[c]
		day, had := own[c]
		switch {
		case !exhausted && had:
			end = append(end, store.Mark{Campaign: c, Day: day})
		case exhausted && (!now.marked || had && day != now.day):
			begin = append(begin, store.Mark{Campaign: c, Day: now.day})
		}
	}
	return firstOf(b.takeBack(ctx, end), b.mark(ctx, begin))
}

// mark marks campaigns. It records the marks first, so that its successor knows them if it is
// killed.
func (b *Budgets) mark(ctx context.Context, marks []store.Mark) (first error) {
	noted := make([]store.Mark, 0, len(marks))
	for _, m := range marks {
		err := b.Store.SetMark(ctx, m)
		if err == nil {
			noted = append(noted, m)
		}
		first = firstOf(first, err)
	}
	if err := b.saveMarks(ctx, noted); err != nil {
		return firstOf(first, err)
	}
	for _, m := range noted {
		first = firstOf(first, b.set(ctx, m.Campaign, true))
		if ctx.Err() != nil {
			break
		}
	}
	return first
}

// takeBack removes marks, and then their records.
func (b *Budgets) takeBack(ctx context.Context, marks []store.Mark) (first error) {
	gone := make([]store.Mark, 0, len(marks))
	for _, m := range marks {
		err := b.set(ctx, m.Campaign, false)
		if err == nil {
			gone = append(gone, m)
		}
		first = firstOf(first, err)
	}
	if err := b.drop(ctx, gone); err != nil {
		return firstOf(first, err)
	}
	for _, m := range gone {
		first = firstOf(first, b.Store.ClearMark(ctx, m)) // not set today by another process
		if ctx.Err() != nil {
			break
		}
	}
	return first
}

// set marks a campaign, unless it was removed meanwhile.
func (b *Budgets) set(ctx context.Context, campaign uint64, exhausted bool) error {
	err := b.Campaigns.SetBudgetExhausted(ctx, campaign, exhausted)
	if fault.Is(err, fault.NotFound) {
		return nil
	}
	return err
}
