package events_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"adshard/budget"
	"adshard/events"
	"adshard/events/store"
	"adshard/fault"
)

// sumsOf is a store with only the sums, which is all that Pacing needs.
type sumsOf struct {
	store.Store
	sums map[store.SumKey]store.Sum
}

func (s sumsOf) Sums(_ context.Context, from store.Day, _ ...uint64) (out []store.Sum, err error) {
	for k, v := range s.sums {
		if k.Day >= from {
			out = append(out, v)
		}
	}
	return out, nil
}

// mortalControl is the control state of a process that is killed.
type mortalControl struct {
	events.Control
	*steps
}

func (m mortalControl) SaveControlIf(ctx context.Context, key string, value []byte, guard string, was []byte) error {
	if err := m.take(); err != nil {
		return err
	}
	return m.Control.SaveControlIf(ctx, key, value, guard, was)
}

// pacingRig is a few campaigns with random clicks, and two processes that pace them. A single pacer is the
// oracle.
type pacingRig struct {
	testing.TB
	store    sumsOf
	list     map[uint64]*events.Budget
	control  *memoryControl
	calls    *steps
	now      time.Time
	zone     *time.Location
	dice     *rand.Rand
	oracle   *budget.Pacer
	restarts int
}

const pacedBudget = 50_000_000

// midnight is the beginning of a day in UTC.
var midnight = time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC)

func newPacingRig(t testing.TB, zoneName string) *pacingRig {
	z := zone(t, zoneName)
	standard := func(id uint64) *events.Budget {
		return &events.Budget{Campaign: id, Daily: pacedBudget, Limited: true, Standard: true, Share: budget.Whole, Zone: z}
	}
	r := &pacingRig{
		TB: t, store: sumsOf{sums: make(map[store.SumKey]store.Sum)}, control: newControl(), zone: z, dice: rand.New(rand.NewPCG(3, 1)),
		list:   map[uint64]*events.Budget{1: standard(1), 2: standard(2), 3: standard(3), 4: standard(4)},
		oracle: budget.NewPacer(budget.DefaultOptions(), budget.Mark{Share: budget.Whole}),
	}
	r.list[2].Standard, r.list[2].Share = false, 400_000 // set by an operator
	return r
}

// round runs a round of a process that fails after some calls.
func (r *pacingRig) round(left int) error {
	r.calls = &steps{left}
	p := &events.Pacing{Store: r.store, Campaigns: fewCampaigns{r.calls, r.list}, Control: mortalControl{r.control, r.calls},
		Key: "cluster/pacing", Options: budget.DefaultOptions(), Now: func() time.Time { return r.now }}
	err := p.Round(r.Context())
	if err != nil && !errors.Is(err, errKilled) {
		r.Fatal(err)
	}
	return err
}

// clicks adds the clicks of a minute. In it, each campaign could spend a hundredth of its budget.
func (r *pacingRig) clicks() {
	day := store.Day(dateOf(r.now, r.zone).Unix() / 86400)
	for id := uint64(1); id <= 4; id++ {
		key := store.SumKey{Campaign: id, Day: day}
		sum := r.store.sums[key]
		sum.Campaign, sum.Day = id, day
		for range 10 {
			if l := r.list[id]; l != nil && r.dice.Uint32N(budget.Whole) < l.Share {
				sum.Clicks, sum.Spend = sum.Clicks+1, sum.Spend+pacedBudget/1000
			}
		}
		r.store.sums[key] = sum
	}
}

func dateOf(at time.Time, z *time.Location) time.Time {
	date, _ := time.Parse(time.DateOnly, at.In(z).Format(time.DateOnly))
	return date
}

func (r *pacingRig) spent() uint64 {
	return r.store.sums[store.SumKey{Campaign: 1, Day: store.Day(dateOf(r.now, r.zone).Unix() / 86400)}].Spend
}

// minute lets two processes decide, one of which may be killed, and compares the resulting share with the
// oracle's.
func (r *pacingRig) minute() {
	r.clicks()
	left := 1000
	if r.dice.IntN(5) == 0 {
		left = r.dice.IntN(4)
	}
	if r.round(left) != nil {
		r.restarts++
	}
	if err := r.round(1000); err != nil {
		r.Fatal(err)
	}
	want := r.oracle.Step(r.now, budget.DayOf(r.now, r.zone), budget.Account{Budget: pacedBudget, Spent: r.spent(), Paced: true})
	if got := r.list[1].Share; got != want.Share {
		r.Fatalf("%v: a share of %d is in force, the oracle's is %d", r.now, got, want.Share)
	}
	before := r.calls.left
	if err := r.round(1000); err != nil || r.calls.left != 1000-1 { // the only call reads the budgets
		r.Fatalf("%v: the other one changes what was decided: %v, %d calls, before %d", r.now, err, 1000-r.calls.left, 1000-before)
	}
}

// TestPacingAsOracle tests that over days of 24 and 23 hours two processes, killed at any step, set the
// shares on which a single pacer decides, and that the budget lasts for the day.
func TestPacingAsOracle(t *testing.T) {
	for name, days := range map[string][]string{
		"Europe/Prague": {"2026-03-28", "2026-03-29"}, "UTC": {"2026-11-23"},
	} {
		r := newPacingRig(t, name)
		for _, date := range days {
			noon, err := time.ParseInLocation(time.DateOnly+" 15", date+" 12", r.zone)
			if err != nil {
				t.Fatal(err)
			}
			day := budget.DayOf(noon, r.zone)
			for r.now = day.Begin; r.now.Before(day.End); r.now = r.now.Add(time.Minute) {
				r.minute()
				if at := r.now.Sub(day.Begin); at%time.Hour == 0 && at >= 2*time.Hour {
					plan, spent := float64(day.Planned(pacedBudget, r.now)), float64(r.spent())
					if spent > plan+0.06*pacedBudget || spent < plan-0.06*pacedBudget {
						t.Errorf("%s %s after %v: %.0f spent, planned %.0f", name, date, at, spent, plan)
					}
				}
			}
			r.now = day.End.Add(-time.Minute)
			if spent := r.spent(); spent < pacedBudget*0.97 || spent > pacedBudget*1.03 {
				t.Errorf("%s %s: %d of %d spent", name, date, spent, pacedBudget)
			}
		}
		if r.restarts == 0 || r.list[2].Share != 400_000 {
			t.Errorf("%d restarts; an operator's share of an accelerated campaign is %d", r.restarts, r.list[2].Share)
		}
	}
}

// TestPacingEnds tests that a campaign that is no longer standard or no longer has a budget has its full
// share at the next round, whichever collector was killed, and is then forgotten, so that an operator's
// share stays. A campaign that was removed does no harm.
func TestPacingEnds(t *testing.T) {
	for left := range 8 {
		r := newPacingRig(t, "UTC")
		r.now = midnight
		for range 60 {
			r.minute()
			r.now = r.now.Add(time.Minute)
		}
		for _, id := range []uint64{1, 3, 4} {
			if r.list[id].Share == budget.Whole {
				t.Fatalf("campaign %d is not throttled", id)
			}
		}
		r.list[1].Standard = false
		r.list[3].Limited = false
		delete(r.list, 4)
		_ = r.round(left)
		r.now = r.now.Add(time.Second)
		if err := r.round(1000); err != nil {
			t.Fatal(err)
		}
		if r.list[1].Share != budget.Whole || r.list[3].Share != budget.Whole {
			t.Errorf("killed after %d calls: %d, %d", left, r.list[1].Share, r.list[3].Share)
		}
		r.now = r.now.Add(time.Minute)
		if err := r.round(1000); err != nil {
			t.Fatal(err)
		}
		r.list[1].Share = 5
		if err := r.round(1000); err != nil || r.list[1].Share != 5 || strings.Contains(string(r.control.values["cluster/pacing"]), `"`+"1"+`"`) {
			t.Errorf("%v, %d, %s", err, r.list[1].Share, r.control.values["cluster/pacing"])
		}
	}
}

// TestPacingDamaged tests that a damaged campaign is reported, and keeps its share and its recorded state,
// while shares are decided for the others.
func TestPacingDamaged(t *testing.T) {
	r := newPacingRig(t, "UTC")
	r.now = midnight
	for range 30 {
		r.minute()
		r.now = r.now.Add(time.Minute)
	}
	share, other := r.list[1].Share, r.list[3].Share
	r.list[1].Damage = fault.Newf(fault.Corrupt, "test", "campaign 1 is damaged")
	for range 30 {
		r.clicks()
		p := &events.Pacing{Store: r.store, Campaigns: fewCampaigns{&steps{1000}, r.list}, Control: r.control, Key: "cluster/pacing",
			Options: budget.DefaultOptions(), Now: func() time.Time { return r.now }}
		if err := p.Round(t.Context()); !fault.Is(err, fault.Corrupt) {
			t.Fatal(err)
		}
		r.now = r.now.Add(time.Minute)
	}
	r.list[1].Damage = nil
	if r.list[1].Share != share || r.list[3].Share == other || !strings.Contains(string(r.control.values["cluster/pacing"]), `"1":`) {
		t.Errorf("shares of %d, before %d; of another one %d, before %d; %s", r.list[1].Share, share, r.list[3].Share, other, r.control.values["cluster/pacing"])
	}
}

// TestPacingIdle tests that nothing is written without events; that a campaign without events for days is
// forgotten once it has its full share; that a clock that was ahead does not stop decisions; and that
// damaged records are reported.
func TestPacingIdle(t *testing.T) {
	r := newPacingRig(t, "UTC")
	r.now = midnight
	if err := r.round(1000); err != nil || len(r.control.values) != 0 {
		t.Fatal(err, r.control.values)
	}
	for range 10 {
		r.minute()
		r.now = r.now.Add(time.Minute)
	}
	throttled := r.list[1].Share
	r.now = r.now.Add(-5 * time.Hour)
	for range 40 {
		if err := r.round(1000); err != nil {
			t.Fatal(err)
		}
		r.now = r.now.Add(time.Minute)
	}
	if r.list[1].Share == throttled {
		t.Error("nothing was decided since the clock went back")
	}
	r.now = midnight.Add(72 * time.Hour)
	for range 200 {
		if err := r.round(1000); err != nil {
			t.Fatal(err)
		}
		r.now = r.now.Add(time.Minute)
	}
	if notes := string(r.control.values["cluster/pacing"]); r.list[1].Share != budget.Whole || !strings.Contains(notes, `"campaigns":{}`) {
		t.Errorf("%d, %s", r.list[1].Share, notes)
	}
	r.control.values["cluster/pacing"] = []byte("x")
	p := &events.Pacing{Control: r.control, Key: "cluster/pacing", Now: time.Now}
	if err := p.Round(t.Context()); !fault.Is(err, fault.Corrupt) {
		t.Error(err)
	}
}
