package postgres_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"adshard/backend"
	"adshard/backend/backendtest"
	"adshard/fault"
	"adshard/search"
)

// write runs f in a transaction and commits it.
func write(ctx context.Context, s backend.Store, f func(tx backend.Tx) error) error {
	tx, err := s.Begin(ctx)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if err := f(tx); err != nil {
		return err
	}
	return tx.Commit(ctx)
}

// addTo adds keywords to a group, which it creates if missing.
func addTo(ctx context.Context, tx backend.Tx, campaign, group string, words ...string) error {
	a, err := tx.Advertiser(ctx, "A")
	if err != nil {
		return err
	}
	c, err := tx.Campaign(ctx, a, campaign, backend.CampaignPatch{})
	if err != nil {
		return err
	}
	g, err := tx.Group(ctx, c, group, backend.GroupPatch{})
	for i := 0; err == nil && i < len(words); i++ {
		err = tx.Keyword(ctx, g, backend.KeywordPatch{Text: words[i], Words: words[i], Type: search.Broad})
	}
	return err
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func add(t testing.TB, s backend.Store, campaign, group string, words ...string) {
	t.Helper()
	must(t, write(t.Context(), s, func(tx backend.Tx) error { return addTo(t.Context(), tx, campaign, group, words...) }))
}

// TestALongTransactionHoldsNobodyUp leaves transactions open, one of another program and one of an import that has
// frozen, as if for an hour. Budget marks, other imports, new groups of the same campaign, readers, compaction and
// the balancer continue, and see clocks without gaps. The open transactions get the newest clocks when they commit.
func TestALongTransactionHoldsNobodyUp(t *testing.T) {
	ctx := t.Context()
	p := newPlace(t)
	s := open(t, p)
	add(t, s, "C", "G", "first")
	add(t, s, "C", "H", "first")
	other := session(t, p)
	for _, sql := range []string{"BEGIN", "INSERT INTO adshard.keyword (group_id, words, text, type) VALUES (1, 'late', 'late', 2)"} {
		_, err := other.Exec(ctx, sql)
		must(t, err)
	}
	frozen, err := open(t, p).Begin(ctx)
	must(t, err)
	must(t, addTo(ctx, frozen, "C", "H", "frozen"))

	hasty := p.Open(t, 2*time.Second) // has a short timeout, so that waiting would fail
	defer hasty.Close()
	before, err := s.Newest(ctx)
	must(t, err)
	woken := make(chan error, 1)
	go func() { woken <- s.Wait(ctx, before) }()
	must(t, hasty.SetBudget(ctx, 1, backend.BudgetMark{Exhausted: true}))
	must(t, <-woken)
	add(t, hasty, "C", "I", "while it is open")
	add(t, hasty, "D", "G", "while it is open")
	must(t, hasty.SaveControl(ctx, "model", []byte("x")))
	must(t, hasty.Hold(ctx, "reader", before.Clock))
	if n := len(backendtest.ReadNow(t, hasty).Items); n != 4 {
		t.Errorf("%d groups, want 4", n)
	}
	if _, err := hasty.Compact(ctx, before.Clock, 0); err != nil {
		t.Error(err)
	}
	changes, err := s.Changes(ctx, before, 100)
	must(t, err)
	if len(changes) != 4 { // the mark, a group, a campaign, its group
		t.Errorf("changes while it was open: %+v", changes)
	}
	last := before.Clock
	for _, c := range changes {
		if last++; c.Clock != last {
			t.Errorf("clock %d follows %d", c.Clock, last-1)
		}
	}

	// Other transactions wait only for the same group.
	err = write(ctx, hasty, func(tx backend.Tx) error { return addTo(ctx, tx, "C", "G", "same") })
	if !fault.Is(err, fault.Locked) {
		t.Errorf("a change of the same group: %v", err)
	}
	_, err = other.Exec(ctx, "COMMIT")
	must(t, err)
	must(t, frozen.Commit(ctx))
	changes, err = s.Changes(ctx, backend.Position{Clock: last}, 100)
	must(t, err)
	if len(changes) != 2 || changes[0].Clock != last+1 || changes[0].ID != 1 || changes[1].Clock != last+2 || changes[1].ID != 2 {
		t.Errorf("the late changes: %+v after clock %d", changes, last)
	}
}

// TestOtherPrograms: changes by any program are in the feed, and changes that the feed could not show are rejected.
// Immediate constraints and savepoints lose nothing.
func TestOtherPrograms(t *testing.T) {
	ctx := t.Context()
	p := newPlace(t)
	s := open(t, p)
	c := session(t, p)
	for _, step := range []struct {
		sql  string
		want string // kinds and ids logged, or "error" if the statement is rejected
	}{
		{"INSERT INTO adshard.advertiser (name) VALUES ('A'), ('B')", " 1:1 1:2"},
		{"INSERT INTO adshard.campaign (advertiser_id, name) VALUES (1, 'C')", " 2:1"},
		{"INSERT INTO adshard.ad_group (campaign_id, advertiser_id, name) VALUES (1, 1, 'G'), (1, 1, 'H')", " 3:1 3:2"},
		{"INSERT INTO adshard.ad_group (campaign_id, advertiser_id, name) VALUES (1, 2, 'I')", "error"},
		{"INSERT INTO adshard.keyword (group_id, words, text, type) VALUES (1, 'a', 'a', 0), (2, 'a', 'a', 0), (1, 'b', 'b', 0)", " 3:1 3:2"},
		{"INSERT INTO adshard.keyword (group_id, words, text, type) VALUES (9, 'a', 'a', 0)", "error"},
		{"UPDATE adshard.keyword SET bid = 5 WHERE words = 'b'", " 3:1"},
		{"UPDATE adshard.keyword SET bid = 5 WHERE words = 'none'", ""},
		{"UPDATE adshard.campaign SET languages = 'cs'", " 2:1 3:1 3:2"},
		{"UPDATE adshard.campaign SET languages = 'cs'", ""},
		{"UPDATE adshard.keyword SET group_id = 2 WHERE words = 'b'", "error"},
		{"UPDATE adshard.advertiser SET id = 7 WHERE id = 1", "error"},
		{"TRUNCATE adshard.keyword", "error"},
		{"TRUNCATE adshard.change_log", "error"},
		{"BEGIN; SET CONSTRAINTS ALL IMMEDIATE; UPDATE adshard.keyword SET bid = 6 WHERE group_id = 1;" +
			" UPDATE adshard.keyword SET bid = 6 WHERE group_id = 2; COMMIT", " 3:1 3:2"},
		{"BEGIN; UPDATE adshard.ad_group SET bid = 1 WHERE id = 1; SAVEPOINT s; UPDATE adshard.ad_group SET bid = 1 WHERE id = 2;" +
			" ROLLBACK TO s; COMMIT", " 3:1"},
		{"BEGIN; SAVEPOINT s; UPDATE adshard.ad_group SET bid = 2 WHERE id = 1; ROLLBACK TO s;" +
			" UPDATE adshard.ad_group SET bid = 2 WHERE id = 2; COMMIT", " 3:2"},
		{"BEGIN; UPDATE adshard.ad_group SET bid = 3; PREPARE TRANSACTION 'x'", "error"},
		{"DELETE FROM adshard.ad_group WHERE id = 1", " 3:1-"},
		{"DELETE FROM adshard.advertiser", " 3:2- 2:1- 1:1- 1:2-"},
	} {
		before, err := s.Newest(ctx)
		must(t, err)
		got := ""
		if _, err := c.PgConn().Exec(ctx, step.sql).ReadAll(); err != nil {
			got = "error"
			_, _ = c.Exec(ctx, "ROLLBACK") // in case the block was left open
		}
		changes, err := s.Changes(ctx, before, 100)
		must(t, err)
		for _, ch := range changes {
			got += fmt.Sprintf(" %d:%d", ch.Kind, ch.ID)
			if ch.Removed {
				got += "-"
			}
		}
		if got != step.want {
			t.Errorf("%s: logged%s, want%s", step.sql, got, step.want)
		}
	}
	if n, err := s.Counts(ctx); err != nil || n != (backend.Counts{}) {
		t.Errorf("%+v, %v", n, err)
	}
}

// TestAnotherDatabase replaces the open database with another.
func TestAnotherDatabase(t *testing.T) {
	ctx := t.Context()
	p, q := newPlace(t).(place), newPlace(t).(place)
	s := open(t, p)
	add(t, s, "C", "G", "a")
	must(t, s.Health(ctx))
	for _, rename := range [][2]string{{p.name, "aside"}, {q.name, p.name}} {
		do(t, "postgres", "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '"+rename[0]+"'")
		do(t, "postgres", "ALTER DATABASE "+rename[0]+" RENAME TO "+rename[1])
	}
	back := func(from, to string) {
		do(t, "postgres", "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '"+from+"'")
		do(t, "postgres", "ALTER DATABASE "+from+" RENAME TO "+to)
	}
	if err := s.Health(ctx); !fault.Is(err, fault.Unavailable) {
		t.Errorf("health: %v", err)
	}
	if err := s.SaveControl(ctx, "k", []byte("v")); !fault.Is(err, fault.Unavailable) {
		t.Errorf("a write: %v", err)
	}
	back(p.name, q.name)
	back("aside", p.name)
	deadline := time.Now().Add(backendtest.Patience)
	for s.Health(ctx) != nil && time.Now().Before(deadline) {
		time.Sleep(10 * time.Millisecond)
	}
	must(t, s.Health(ctx))
	add(t, s, "C", "G", "b")
}
