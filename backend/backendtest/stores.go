package backendtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"adshard/backend"
	"adshard/fault"
)

func storeClauses() []clause {
	return []clause{
		{"a budget's mark", testBudget},
		{"a campaign's share", testShare},
		{"control values", testControl},
		{"control values are saved if another is as expected", testControlIf},
		{"a second writer of the same waits, then fails as locked", testLocked},
		{"waiting for another writer ends with its context", testWriteContext},
		{"several processes write the same", testProcesses},
		{"a long run of transactions leaves room for other writers", testFair},
		{"what is not committed is not visible", testUncommitted},
		{"closing twice", testCloseTwice},
	}
}

func testBudget(t *testing.T, f Factory) {
	s := open(t, f)
	ctx := t.Context()
	if err := s.SetBudget(ctx, 1, backend.BudgetMark{Exhausted: true}); !fault.Is(err, fault.NotFound) {
		t.Error(err)
	}
	writes(t, s, sample)
	for _, exhausted := range []bool{true, false} {
		clock := clockOf(t, s)
		for range 2 {
			check(t, s.SetBudget(ctx, 1, backend.BudgetMark{Exhausted: exhausted}))
		}
		changes, err := s.Changes(ctx, at(clock), 10)
		if err != nil || len(changes) != 1 || changes[0].Kind != backend.KindCampaign || changes[0].ID != 1 {
			t.Errorf("%v, %v", changes, err)
		}
		if got := ReadNow(t, s).Campaigns[1].BudgetExhausted; got != exhausted {
			t.Errorf("exhausted is %v", got)
		}
		writes(t, s, sample) // an import does not change the mark
		if got := ReadNow(t, s).Campaigns[1].BudgetExhausted; got != exhausted {
			t.Errorf("after an import exhausted is %v", got)
		}
	}
}

// testShare checks that a share is set with the mark and logged once, that marks and imports without a share keep it,
// and that a share above the whole is rejected.
func testShare(t *testing.T, f Factory) {
	s := open(t, f)
	ctx := t.Context()
	writes(t, s, sample)
	for _, c := range []struct {
		name     string
		mark     backend.BudgetMark
		withheld uint32
		logged   int
	}{
		{"set", backend.BudgetMark{Share: backend.To[uint32](250_000)}, 750_000, 1},
		{"again", backend.BudgetMark{Share: backend.To[uint32](250_000)}, 750_000, 0},
		{"another", backend.BudgetMark{Share: backend.To[uint32](0)}, 1_000_000, 1},
		{"not said", backend.BudgetMark{}, 1_000_000, 0},
		{"exhausted", backend.BudgetMark{Exhausted: true}, 1_000_000, 1},
		{"share only", backend.BudgetMark{Exhausted: false, ShareOnly: true, Share: backend.To[uint32](500_000)}, 500_000, 1},
		{"both", backend.BudgetMark{Share: backend.To[uint32](999_999)}, 1, 1},
		{"restored", backend.BudgetMark{Share: backend.Patch[uint32]{Op: backend.Reset}}, 0, 1},
		{"whole", backend.BudgetMark{Share: backend.To[uint32](1_000_000)}, 0, 0},
	} {
		clock := clockOf(t, s)
		check(t, s.SetBudget(ctx, 1, c.mark))
		writes(t, s, sample)
		changes, err := s.Changes(ctx, at(clock), 10)
		if got := ReadNow(t, s).Campaigns[1]; err != nil || len(changes) != c.logged || got.Withheld != c.withheld || got.BudgetExhausted != (c.mark.Exhausted || c.mark.ShareOnly) {
			t.Errorf("%s: %d withheld, exhausted %v, %v, %v", c.name, got.Withheld, got.BudgetExhausted, changes, err)
		}
	}
	before := ReadNow(t, s)
	if err := s.SetBudget(ctx, 1, backend.BudgetMark{Exhausted: true, Share: backend.To[uint32](1_000_001)}); !fault.Is(err, fault.Invalid) {
		t.Error(err)
	}
	if d := Differ(ReadNow(t, s), before); d != "" {
		t.Error(d)
	}
}

func testControl(t *testing.T, f Factory) {
	p := f(t)
	s := p.Open(t, Patience)
	ctx := t.Context()
	if v, err := s.LoadControl(ctx, "model"); err != nil || v != nil {
		t.Errorf("%v, %v", v, err)
	}
	large := bytes.Repeat([]byte{0, 1, 255}, 100_000)
	for key, v := range map[string][]byte{"model": large, "empty": {}, "epoch": {7}} {
		check(t, s.SaveControl(ctx, key, []byte("first")))
		check(t, s.SaveControl(ctx, key, v))
	}
	clock := clockOf(t, s)
	closing(t, s)
	s = openAt(t, p)
	for key, want := range map[string][]byte{"model": large, "empty": {}, "epoch": {7}} {
		if v, err := s.LoadControl(ctx, key); err != nil || !bytes.Equal(v, want) || v == nil {
			t.Errorf("%s: %d bytes, %v", key, len(v), err)
		}
	}
	if clock != 0 {
		t.Error("control values moved the clock")
	}
}

func testControlIf(t *testing.T, f Factory) {
	s := open(t, f)
	ctx := t.Context()
	steps := []struct {
		name, key, value, guard string
		was                     []byte
		ok                      bool
	}{
		{"the guard is missing", "epoch", "1", "epoch", nil, true},
		{"it is not any more", "epoch", "x", "epoch", nil, false},
		{"nor is it empty", "epoch", "x", "epoch", []byte{}, false},
		{"as expected", "model", "a", "epoch", []byte("1"), true},
		{"another value", "model", "x", "epoch", []byte("2"), false},
		{"itself", "epoch", "2", "epoch", []byte("1"), true},
		{"it has changed", "model", "x", "epoch", []byte("1"), false},
		{"again as expected", "model", "b", "epoch", []byte("2"), true},
		{"missing is not empty", "model", "x", "nothing", []byte{}, false},
	}
	for _, step := range steps {
		before, err := s.LoadControl(ctx, step.key)
		check(t, err)
		err = s.SaveControlIf(ctx, step.key, []byte(step.value), step.guard, step.was)
		after, again := s.LoadControl(ctx, step.key)
		check(t, again)
		switch {
		case step.ok && (err != nil || string(after) != step.value):
			t.Errorf("%s: %q, %v", step.name, after, err)
		case !step.ok && (!fault.Is(err, fault.Conflict) || !bytes.Equal(before, after)):
			t.Errorf("%s: %q after %q, %v", step.name, after, before, err)
		}
	}
}

func testLocked(t *testing.T, f Factory) {
	p := f(t)
	s := openAt(t, p)
	hasty, alike := p.Open(t, 50*time.Millisecond), p.Open(t, 50*time.Millisecond)
	defer closing(t, hasty)
	defer closing(t, alike)
	w := begin(t, s)
	w.path("G")
	if err := tryPath(t.Context(), hasty); !fault.Is(err, fault.Locked) {
		t.Errorf("the same advertiser: %v", err)
	}
	if err := alike.SaveControl(t.Context(), "k", nil); err != nil && !fault.Is(err, fault.Locked) {
		t.Errorf("control: %v", err)
	}
	if n := ReadNow(t, hasty); len(n.Items) != 0 {
		t.Error("reading saw an open transaction")
	}
	w.commit()
	writes(t, hasty, func(w writer) { w.path("H") })
}

// tryPath makes or finds the advertiser "A" in a transaction of its own.
func tryPath(ctx context.Context, s backend.Store) error {
	tx, err := s.Begin(ctx)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if _, err := tx.Advertiser(ctx, "A"); err != nil {
		return err
	}
	return tx.Commit(ctx)
}

func testWriteContext(t *testing.T, f Factory) {
	p := f(t)
	s := openAt(t, p)
	w := begin(t, s)
	w.path("G")
	for _, from := range []backend.Store{s, openAt(t, p)} {
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
		if err := tryPath(ctx, from); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		cancel()
	}
	w.commit()
}

func testProcesses(t *testing.T, f Factory) {
	p := f(t)
	stores := []backend.Store{openAt(t, p), openAt(t, p), openAt(t, p)}
	const rounds = 20
	var writers sync.WaitGroup
	for i, s := range stores {
		writers.Go(func() {
			for r := range rounds {
				writes(t, s, func(w writer) {
					_, g := w.path("G")
					w.words(g, fmt.Sprint("all ", r), fmt.Sprint("writer ", i, " ", r))
				})
			}
		})
	}
	r := &replica{state: NewState()}
	for range 10 {
		r.follow(t, stores[0], 2)
	}
	writers.Wait()
	r.follow(t, stores[0], 5)
	now := ReadNow(t, stores[1])
	if d := Differ(r.state, now); d != "" {
		t.Error(d)
	}
	// Concurrent writers may leave gaps, but never give an id twice.
	ids := keywordIDs(now, 1)
	if want := rounds * (len(stores) + 1); len(ids) != want || len(slices.Compact(ids)) != want || ids[0] != 1 {
		t.Errorf("keyword ids %v, want %d different ones", ids, want)
	}
}

// testFair lets one writer commit without a pause. Another writer must get its turn after a few of these
// transactions, since a budget's mark should take effect in answers within a second.
func testFair(t *testing.T, f Factory) {
	p := f(t)
	s, other := openAt(t, p), openAt(t, p)
	writes(t, s, sample)
	stop := make(chan struct{})
	var importer sync.WaitGroup
	var commits atomic.Int64
	importer.Go(func() {
		for r := 0; ; r++ {
			select {
			case <-stop:
				return
			default:
			}
			writes(t, s, func(w writer) {
				for k := range 2000 {
					w.words(1, fmt.Sprint("round ", r, " ", k))
				}
			})
			commits.Add(1)
		}
	})
	for commits.Load() == 0 {
		time.Sleep(time.Millisecond)
	}
	for i := range 5 {
		before := commits.Load()
		if err := other.SetBudget(t.Context(), 1, backend.BudgetMark{Exhausted: i%2 == 0}); err != nil {
			t.Error(err)
		}
		if n := commits.Load() - before; n > 30 {
			t.Errorf("%d transactions of the other writer came first", n)
		}
	}
	close(stop)
	importer.Wait()
}

func testUncommitted(t *testing.T, f Factory) {
	p := f(t)
	s := p.Open(t, Patience)
	w := begin(t, s)
	sample(w)
	if n := ReadNow(t, s); len(n.Advertisers) != 0 || clockOf(t, s) != 0 {
		t.Errorf("an open transaction is visible: %+v", n)
	}
	w.must(w.Rollback())
	closing(t, s)
	s = openAt(t, p)
	if n := ReadNow(t, s); len(n.Advertisers) != 0 || clockOf(t, s) != 0 {
		t.Errorf("a rolled back transaction is visible: %+v", n)
	}
}

func testCloseTwice(t *testing.T, f Factory) {
	s := f(t).Open(t, Patience)
	closing(t, s)
	closing(t, s)
	if _, err := s.Newest(t.Context()); !fault.Is(err, fault.Unavailable) {
		t.Errorf("reading after the end: %v", err)
	}
	if _, err := s.Begin(t.Context()); err == nil {
		t.Error("writing after the end is possible")
	}
}
