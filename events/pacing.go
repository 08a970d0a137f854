package events

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"adshard/budget"
	"adshard/events/store"
	"adshard/fault"
)

// PacingKey is the suffix that the key of the stored pacing adds to the cluster's state key.
const PacingKey = "/pacing"

// PaceEvery is the time between two decisions on a campaign, by any process. It is far below the
// horizon of pacers, and long enough for some clicks to arrive.
const PaceEvery = 10 * time.Second

// Pacing spreads the budgets of campaigns with standard delivery over their days, by the share of
// requests in which they take part. The state of the pacers is stored in the control state, so
// that several processes act as one: the process that first stores a round decides it, and the
// others make sure that its shares are set. A share is recorded before it is set, and the record
// is deleted when the campaign has its full share again. So the successor of a killed process can
// reset it. Shares of campaigns that are not recorded are not touched.
type Pacing struct {
	Store     store.Store
	Campaigns Campaigns
	Control   Control
	Key       string // the key in Control
	Options   budget.Options
	Now       func() time.Time
}

// paces is the stored state of the pacers.
type paces struct {
	At        time.Time               `json:"at"` // when the last decisions were made
	Campaigns map[uint64]budget.State `json:"campaigns"`
}

// account is a campaign with what it has spent today.
type account struct {
	Budget
	day    budget.Day
	spent  uint64
	lately bool // there were events in the last two days
}

func (a *account) paced() bool { return a.Standard && a.Limited }

// Round makes the decisions that are due, and sets the shares that were decided.
func (p *Pacing) Round(ctx context.Context) error {
	was, err := p.Control.LoadControl(ctx, p.Key)
	if err != nil {
		return err
	}
	var noted paces
	if was != nil {
		if err := json.Unmarshal(was, &noted); err != nil {
			return fault.Newf(fault.Corrupt, "pacing", "the control state %q is damaged: delete it while the collectors are stopped: %w", p.Key, err)
		}
	}
	now := p.Now()
	accounts, err := p.accounts(ctx, now, noted.Campaigns)
	if err != nil {
		return err
	}
	if age := now.Sub(noted.At); age >= PaceEvery || age < -Skew { // a negative age is that of a clock that was ahead
		next := paces{now, p.decide(now, accounts, noted.Campaigns)}
		if len(next.Campaigns) == 0 && len(noted.Campaigns) == 0 {
			return damageOf(accounts)
		}
		b, err := json.Marshal(next)
		if err == nil {
			err = p.Control.SaveControlIf(ctx, p.Key, b, p.Key, was)
		}
		if fault.Is(err, fault.Conflict) {
			return damageOf(accounts) // another process has decided
		}
		if err != nil {
			return err
		}
		noted = next
	}
	return firstOf(p.set(ctx, accounts, noted.Campaigns), damageOf(accounts))
}

// damageOf returns why the first damaged campaign cannot be read, or nil if all can.
func damageOf(accounts map[uint64]*account) (damage error) {
	for _, c := range slices.Sorted(maps.Keys(accounts)) {
		damage = firstOf(damage, accounts[c].Damage)
	}
	return damage
}

// accounts returns the accounts of the campaigns that had events recently or are recorded.
func (p *Pacing) accounts(ctx context.Context, now time.Time, noted map[uint64]budget.State) (map[uint64]*account, error) {
	sums, err := p.Store.Sums(ctx, lately(now))
	if err != nil {
		return nil, err
	}
	ids := make(map[uint64]bool)
	spent := make(map[store.SumKey]uint64)
	for _, s := range sums {
		ids[s.Campaign] = true
		spent[store.SumKey{Campaign: s.Campaign, Day: s.Day}] = s.Spend
	}
	active := maps.Clone(ids)
	for c := range noted {
		ids[c] = true
	}
	if len(ids) == 0 {
		return nil, nil
	}
	budgets, err := p.Campaigns.Budgets(ctx, slices.Sorted(maps.Keys(ids)))
	if err != nil {
		return nil, err
	}
	out := make(map[uint64]*account, len(budgets))
	for _, b := range budgets {
		if b.Damage != nil {
			out[b.Campaign] = &account{Budget: b}
			continue
		}
		day := budget.DayOf(now, b.Zone)
		out[b.Campaign] = &account{b, day, spent[store.SumKey{Campaign: b.Campaign, Day: number(day)}], active[b.Campaign]}
	}
	return out, nil
}

// decide returns the states of the pacers after a step. A campaign that is no longer paced, or has
// no more events, is kept until it has its full share again.
func (p *Pacing) decide(now time.Time, accounts map[uint64]*account, noted map[uint64]budget.State) map[uint64]budget.State {
	next := make(map[uint64]budget.State)
	for c, a := range accounts {
		state, known := noted[c]
		if !known {
			state = budget.State{Share: a.Share}
		}
		switch {
		case a.Damage != nil: // it is left as it is
			if known {
				next[c] = state
			}
		case (a.paced() && !a.lately || !a.paced() && known) && a.Share == budget.Whole:
		case a.paced():
			pacer := budget.Resume(p.Options, state)
			pacer.Step(now, a.day, budget.Account{Budget: a.Daily, Spent: a.spent, Paced: true})
			next[c] = pacer.State()
		case known:
			next[c] = budget.State{Share: budget.Whole}
		}
	}
	return next
}

// set sets the recorded shares, and gives campaigns that are no longer paced their full share.
func (p *Pacing) set(ctx context.Context, accounts map[uint64]*account, noted map[uint64]budget.State) error {
	for _, c := range slices.Sorted(maps.Keys(noted)) {
		a := accounts[c]
		if a == nil || a.Damage != nil { // the campaign was removed, or cannot be read
			continue
		}
		share := noted[c].Share
		if !a.paced() {
			share = budget.Whole
		}
		if a.Share == share {
			continue
		}
		if err := p.Campaigns.SetShare(ctx, c, share); err != nil && !fault.Is(err, fault.NotFound) {
			return err
		}
	}
	return nil
}
