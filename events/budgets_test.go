package events_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"adshard/events"
	"adshard/events/store"
	"adshard/events/token"
	"adshard/fault"
)

var errKilled = errors.New("killed")

// steps fails from some call on, like a process that was killed.
type steps struct{ left int }

func (s *steps) take() error {
	if s.left--; s.left < 0 {
		return errKilled
	}
	return nil
}

// fewCampaigns is a few campaigns in memory.
type fewCampaigns struct {
	*steps
	list map[uint64]*events.Budget
}

func (c fewCampaigns) Budgets(_ context.Context, ids []uint64) (out []events.Budget, err error) {
	for _, id := range ids {
		if b := c.list[id]; b != nil {
			l := *b
			if l.Zone == nil {
				l.Zone = time.UTC
			}
			if l.Damage != nil {
				l = events.Budget{Campaign: id, Damage: l.Damage}
			}
			out = append(out, l)
		}
	}
	return out, c.take()
}

func (c fewCampaigns) SetBudgetExhausted(_ context.Context, id uint64, exhausted bool) error {
	if err := c.take(); err != nil {
		return err
	}
	if c.list[id] == nil {
		return fault.Newf(fault.NotFound, "test", "there is no campaign %d", id)
	}
	c.list[id].Exhausted = exhausted
	return nil
}

func (c fewCampaigns) SetShare(_ context.Context, id uint64, share uint32) error {
	if err := c.take(); err != nil {
		return err
	}
	if c.list[id] == nil {
		return fault.Newf(fault.NotFound, "test", "there is no campaign %d", id)
	}
	c.list[id].Share = share
	return nil
}

// mortal is the store of a process that is killed.
type mortal struct {
	store.Store
	*steps
}

func (m mortal) SetMark(ctx context.Context, k store.Mark) error {
	if err := m.take(); err != nil {
		return err
	}
	return m.Store.SetMark(ctx, k)
}

func (m mortal) ClearMark(ctx context.Context, k store.Mark) error {
	if err := m.take(); err != nil {
		return err
	}
	return m.Store.ClearMark(ctx, k)
}

// TestBudgetsAsOracle tests that after any clicks, days, changes of budgets and campaigns, and kills between
// any two steps, a sweep marks exactly the campaigns that have spent their budget of the day. Marks of
// operators stay.
func TestBudgetsAsOracle(t *testing.T) {
	path := filepath.Join(t.TempDir(), "events.db")
	s := open(t, path)
	next := uint64(0)
	rapid.Check(t, func(rt *rapid.T) {
		base := next // campaigns are new in each draw
		list := make(map[uint64]*events.Budget)
		operators := make(map[uint64]bool)
		spent, control := make(map[string]uint64), newControl()
		for range 3 {
			next++
			list[next] = &events.Budget{Campaign: next, Advertiser: 1, Daily: 20_000, Limited: true}
		}
		campaign := func() uint64 { return base + rapid.Uint64Range(1, 3).Draw(rt, "campaign") }
		now := start
		for range rapid.IntRange(4, 16).Draw(rt, "steps") {
			c := campaign()
			switch rapid.IntRange(0, 6).Draw(rt, "step") {
			case 0:
				now = now.Add(7 * time.Hour)
			case 1:
				if l := list[c]; l != nil {
					l.Daily, l.Limited = rapid.Uint64Range(0, 5).Draw(rt, "budget")*10_000, rapid.Bool().Draw(rt, "limited")
				}
			case 2:
				if l := list[c]; l != nil && !l.Exhausted && !noted(rt, s, c) {
					l.Exhausted, operators[c] = true, true
				}
			case 3:
				delete(list, c)
			default:
				next++
				e := clickOf(next, c, now)
				if _, err := s.Add(t.Context(), []store.Event{e}); err != nil {
					rt.Fatal(err)
				}
				spent[fmt.Sprint(c, utc(1, now))] += e.Token.Price
			}
			left := &steps{rapid.IntRange(0, 6).Draw(rt, "left")}
			b := budgetsOf(mortal{s, left}, fewCampaigns{left, list}, now)
			b.Control = mortalControl{control, left}
			if err := b.Sweep(t.Context()); err != nil && !errors.Is(err, errKilled) {
				rt.Fatal(err)
			}
		}
		last := budgetsOf(s, fewCampaigns{&steps{1000}, list}, now)
		last.Control = control
		if err := last.Sweep(t.Context()); err != nil {
			rt.Fatal(err)
		}
		for c, l := range list {
			total, any := spent[fmt.Sprint(c, utc(1, now))]
			if want := operators[c] || l.Limited && any && total >= l.Daily; l.Exhausted != want {
				rt.Fatalf("campaign %d with a budget of %d (%v) has spent %d: exhausted %v, by an operator %v", c, l.Daily, l.Limited, total, l.Exhausted, operators[c])
			}
		}
	})
}

// noted reports whether a mark of a campaign is recorded. If so, a mark that an operator sets is taken to be
// that mark.
func noted(t *rapid.T, s store.Store, campaign uint64) bool {
	marks, err := s.Marks(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(marks, func(m store.Mark) bool { return m.Campaign == campaign })
}

func budgetsOf(s store.Store, c events.Campaigns, now time.Time) *events.Budgets {
	return &events.Budgets{Store: s, Campaigns: c, Control: newControl(), Now: func() time.Time { return now }}
}

func clickOf(n, campaign uint64, at time.Time) store.Event {
	e := store.Event{ID: token.From(at), Kind: store.Click, Day: utc(1, at), Token: token.Token{Served: at, Campaign: campaign, Price: 10_000}}
	binary.BigEndian.PutUint64(e.ID[4:], n)
	return e
}

// interrupted is the store of a process that another one overtakes before it clears a mark.
type interrupted struct {
	store.Store
	overtake func()
}

func (s interrupted) ClearMark(ctx context.Context, k store.Mark) error {
	s.overtake()
	return s.Store.ClearMark(ctx, k)
}

// TestMarksOfTwo tests that if one process takes back yesterday's mark while another one marks the campaign
// for today, today's mark stays recorded and is taken back tomorrow.
func TestMarksOfTwo(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "events.db"))
	list := map[uint64]*events.Budget{1: {Campaign: 1, Advertiser: 1, Daily: 10_000, Limited: true}}
	campaigns := fewCampaigns{&steps{1000}, list}
	click := func(n uint64, at time.Time) {
		if _, err := s.Add(t.Context(), []store.Event{clickOf(n, 1, at)}); err != nil {
			t.Fatal(err)
		}
	}
	sweep := func(s store.Store, at time.Time) {
		if err := budgetsOf(s, campaigns, at).Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	tomorrow := start.Add(24 * time.Hour)
	click(1, start)
	sweep(s, start)
	sweep(interrupted{s, func() { click(2, tomorrow); sweep(s, tomorrow) }}, tomorrow)
	if !list[1].Exhausted {
		t.Error("it has spent its budget, and is not marked")
	}
	if sweep(s, tomorrow.Add(24*time.Hour)); list[1].Exhausted {
		t.Error("the mark is taken for an operator's and stays for ever")
	}
}

// TestMarksOfOperators tests that an operator's mark stays on the next day, with a larger budget and without
// any, even if the budget was spent before or after.
func TestMarksOfOperators(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "events.db"))
	list := map[uint64]*events.Budget{
		1: {Campaign: 1, Advertiser: 1, Daily: 20_000, Limited: true, Exhausted: true},
		2: {Campaign: 2, Advertiser: 1, Exhausted: true},
	}
	sweep := func(at time.Time) {
		t.Helper()
		if err := budgetsOf(s, fewCampaigns{&steps{1000}, list}, at).Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		if !list[1].Exhausted || !list[2].Exhausted {
			t.Fatalf("at %v: %+v %+v", at, *list[1], *list[2])
		}
	}
	clicks := []store.Event{clickOf(1, 1, start), clickOf(2, 1, start), clickOf(3, 2, start)}
	if _, err := s.Add(t.Context(), clicks[:1]); err != nil {
		t.Fatal(err)
	}
	sweep(start)
	if _, err := s.Add(t.Context(), clicks[1:]); err != nil { // the budget is spent while an operator's mark is set
		t.Fatal(err)
	}
	sweep(start)
	list[1].Daily = 1_000_000
	sweep(start)
	list[1].Limited = false
	sweep(start.Add(24 * time.Hour))
}

// TestOneCannotBeMarked tests that a campaign whose mark cannot be set does not keep others from being
// marked.
func TestOneCannotBeMarked(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "events.db"))
	list := make(map[uint64]*events.Budget)
	var clicks []store.Event
	for c := range uint64(3) {
		list[c] = &events.Budget{Campaign: c, Advertiser: 1, Daily: 10_000, Limited: true}
		clicks = append(clicks, clickOf(c, c, start))
	}
	if _, err := s.Add(t.Context(), clicks); err != nil {
		t.Fatal(err)
	}
	b := budgetsOf(s, damaged{fewCampaigns{&steps{1000}, list}, 1}, start)
	if err := b.Sweep(t.Context()); !fault.Is(err, fault.Corrupt) || !list[0].Exhausted || list[1].Exhausted || !list[2].Exhausted {
		t.Errorf("%v, %v %v %v", err, *list[0], *list[1], *list[2])
	}
}

// TestOneCannotBeRead tests that a damaged campaign is reported and left as it is, with its mark, while
// other campaigns are marked and their marks are taken back.
func TestOneCannotBeRead(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "events.db"))
	list := make(map[uint64]*events.Budget)
	var clicks []store.Event
	for c := uint64(1); c <= 4; c++ {
		list[c] = &events.Budget{Campaign: c, Advertiser: 1, Daily: 10_000, Limited: true}
		clicks = append(clicks, clickOf(c, c, start))
	}
	if _, err := s.Add(t.Context(), clicks); err != nil {
		t.Fatal(err)
	}
	b := budgetsOf(s, fewCampaigns{&steps{1000}, list}, start)
	if err := b.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	list[2].Damage = fault.Newf(fault.Corrupt, "test", "campaign 2 is damaged")
	list[3].Exhausted, list[4].Limited = false, false // as if an operator had taken back the mark of 3; 4 no longer has a budget
	b.Note(clicks)
	if err := b.Check(t.Context()); err != nil || !list[3].Exhausted || list[4].Exhausted {
		t.Errorf("%v, %v %v", err, *list[3], *list[4])
	}
	list[3].Limited = false
	if err := b.Sweep(t.Context()); !fault.Is(err, fault.Corrupt) || list[3].Exhausted || !list[2].Exhausted || !list[1].Exhausted {
		t.Errorf("%v, %v %v %v", err, *list[1], *list[2], *list[3])
	}
	list[2].Damage, list[2].Limited = nil, false
	if err := b.Sweep(t.Context()); err != nil || list[2].Exhausted {
		t.Errorf("its mark was forgotten: %v, %v", err, *list[2])
	}
}

// damaged is campaigns of which one cannot be marked.
type damaged struct {
	fewCampaigns
	bad uint64
}

func (d damaged) SetBudgetExhausted(ctx context.Context, id uint64, exhausted bool) error {
	if id == d.bad {
		return fault.Newf(fault.Corrupt, "test", "campaign %d is damaged", id)
	}
	return d.fewCampaigns.SetBudgetExhausted(ctx, id, exhausted)
}

// TestCheck tests that campaigns with clicks are checked once, and again after an error.
func TestCheck(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "events.db"))
	left := &steps{0}
	list := map[uint64]*events.Budget{1: {Campaign: 1, Daily: 20_000, Limited: true}, 2: {Campaign: 2, Limited: false}}
	b := budgetsOf(s, fewCampaigns{left, list}, start)
	var clicks []store.Event
	for n := range uint64(4) {
		clicks = append(clicks, clickOf(n, 1+n%2, start))
	}
	clicks = append(clicks, clickOf(9, 3, start)) // of a campaign that does not exist
	if _, err := s.Add(t.Context(), clicks); err != nil {
		t.Fatal(err)
	}
	b.Note(clicks)
	if err := b.Check(t.Context()); !errors.Is(err, errKilled) || list[1].Exhausted {
		t.Fatalf("%v", err)
	}
	left.left = 10
	if err := b.Check(t.Context()); err != nil || !list[1].Exhausted || list[2].Exhausted {
		t.Fatalf("%v, %v, %v", err, list[1], list[2])
	}
	left.left = 0
	if err := b.Check(t.Context()); err != nil {
		t.Errorf("nothing was clicked since, and it looks: %v", err)
	}
}
