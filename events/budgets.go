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

// Budget is what a campaign may spend in a day, with its state.
type Budget struct {
	Campaign, Advertiser uint64
	Daily                uint64         // in micros
	Limited              bool           // false if there is no limit
	Exhausted            bool           // marked as exhausted, by Budgets or an operator
	Zone                 *time.Location // in which the advertiser's days begin
	Standard             bool           // the budget is spread over the day
	Share                uint32         // of a million requests, the number in which the campaign takes part
	// Damage is why the campaign cannot be read, or nil if it can. If it is set, the only other
	// field set is Campaign, and the campaign is left as it is.
	Damage error
}

// Campaigns reads and changes the campaigns of the backend.
type Campaigns interface {
	// Budgets returns the budgets of campaigns. It leaves out campaigns that do not exist. If one
	// cannot be read, its Damage is set.
	Budgets(ctx context.Context, campaigns []uint64) ([]Budget, error)
	// SetBudgetExhausted sets or removes the mark of a campaign. Errors: fault.NotFound if there is
	// no such campaign.
	SetBudgetExhausted(ctx context.Context, campaign uint64, exhausted bool) error
	// SetShare sets the share of requests in which a campaign takes part; it does not change the
	// mark. Errors: fault.NotFound if there is no such campaign.
	SetShare(ctx context.Context, campaign uint64, share uint32) error
}

// Budgets marks campaigns that have spent their budget of the day as exhausted. It removes its
// marks when the budget is no longer spent: on another day, or after the budget was raised. It does
// not touch marks set by others. Several processes may share one store.
//
// A mark is recorded before it is set, and its record is deleted after it was removed. So the
// successor of a process that was killed knows of it.
type Budgets struct {
	Store     store.Store
	Campaigns Campaigns
	Control   Control // also has the records of the marks (MarksKey)
	Now       func() time.Time

	mu    sync.Mutex
	dirty map[uint64]bool // campaigns with clicks since the last Check; guarded by mu
}

// Note says that events are durable and were counted, by this process or another.
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

// Check checks the campaigns that had clicks since the last call. After an error, the next call
// checks them again. It leaves it to Sweep to report damaged campaigns.
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

// Sweep checks all campaigns that spent something recently, and all marks. So it makes up for what
// a killed process left undone, and sees new days and changed budgets. If a campaign is damaged, it
// checks the others and then returns that error.
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

// check sets and removes the marks of some campaigns. damage is why one of them cannot be read and
// was left as it is. It reads the records of marks last: so for each campaign that it sees marked,
// it knows whether Budgets has set the mark.
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

// undamaged leaves out the campaigns that cannot be read, and returns the error of the first of
// these.
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

// over returns the campaigns that have spent their budget of the day.
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

// spent is a campaign's day on which its budget is spent, and whether the campaign is marked.
type spent struct {
	day    store.Day
	marked bool
}

// settle sets and removes marks so that exactly the campaigns in over are marked. It continues
// after a mark that cannot be set, and returns the first error.
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

// mark marks campaigns. It records the marks first, so that a successor knows of them if this
// process is killed.
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

// takeBack removes marks, and then deletes their records.
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
		first = firstOf(first, b.Store.ClearMark(ctx, m)) // unless another process has set it again today
		if ctx.Err() != nil {
			break
		}
	}
	return first
}

// set sets or removes the mark of a campaign. It does nothing if the campaign no longer exists.
func (b *Budgets) set(ctx context.Context, campaign uint64, exhausted bool) error {
	err := b.Campaigns.SetBudgetExhausted(ctx, campaign, exhausted)
	if fault.Is(err, fault.NotFound) {
		return nil
	}
	return err
}
