package sqlite

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"adshard/backend"
	"adshard/fault"
)

func mustCheck(t testing.TB, s *Store) *backend.CheckReport {
	t.Helper()
	report, err := s.Check(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// whole reads everything, as for slaves.
func whole(ctx context.Context, s *Store) error {
	_, err := readable(ctx, s)
	return err
}

// TestChangedByOthersIsSummedAnew: entities that another program writes are read without an error, get sums when the
// log is compacted, and are checked from then on.
func TestChangedByOthersIsSummedAnew(t *testing.T) {
	if testing.Short() {
		t.Skip("short: one goroutine at a time, which no race detector need watch")
	}
	for _, sql := range []string{
		"INSERT INTO keyword (group_id, words, type, text) VALUES (2, 'n', 2, 'N')",
		"UPDATE keyword SET bid = 5 WHERE words = 'a'",
		"DELETE FROM keyword WHERE words = 'b'",
		"UPDATE ad SET enabled = 0",
		"DELETE FROM group_negative",
		"UPDATE ad_group SET name = 'x' WHERE id = 2",
		"UPDATE campaign_negative SET enabled = 0",
		"UPDATE advertiser_negative SET enabled = 0",
		"DELETE FROM advertiser_negative",
		"UPDATE campaign SET budget_exhausted = 1",
		"UPDATE campaign SET languages = 'cs en', enabled = 0",
		"UPDATE advertiser SET enabled = 0",
		"INSERT INTO ad_group (campaign_id, name) VALUES (1, 'new')",
		"DELETE FROM ad_group WHERE id = 1",
	} {
		t.Run(sql, func(t *testing.T) {
			ctx := t.Context()
			path := filepath.Join(t.TempDir(), "ads.db")
			s := opened(t, path)
			for _, err := range []error{Script(t, path, baseNow), whole(ctx, s)} {
				if err != nil {
					t.Fatal(err)
				}
			}
			if _, err := s.Compact(ctx, 0, 0); err != nil {
				t.Fatal(err)
			}
			if r := mustCheck(t, s); r.ByOthers > 0 || len(r.Damage) > 0 {
				t.Fatalf("%d without a sum, %v", r.ByOthers, r.Damage)
			}
			for _, err := range []error{Script(t, path, sql), whole(ctx, s)} {
				if err != nil {
					t.Fatal(err)
				}
			}
			removal := sql[:6] == "DELETE" && sql[12:20] == "ad_group"
			if r := mustCheck(t, s); (r.ByOthers == 0) != removal || len(r.Damage) > 0 {
				t.Errorf("%d without a sum, %v", r.ByOthers, r.Damage)
			}
			// This program changes the same and other entities.
			for _, err := range []error{write(ctx, s, 0, 2), s.SetBudget(ctx, 1, backend.BudgetMark{Exhausted: true}), whole(ctx, s)} {
				if err != nil {
					t.Fatal(err)
				}
			}
			if _, err := s.Compact(ctx, 1<<40, 0); err != nil {
				t.Fatal(err)
			}
			if r := mustCheck(t, s); r.ByOthers > 0 || len(r.Damage) > 0 {
				t.Errorf("after compaction: %d without a sum, %v", r.ByOthers, r.Damage)
			}
			if err := whole(ctx, s); err != nil && !fault.Is(err, fault.Stale) {
				t.Error(err)
			}
		})
	}
}

// TestALogThatWasDeletedByHand: only the log's entries showed that some entities have no sums. After the log is deleted,
// they get sums when the database is opened again.
func TestALogThatWasDeletedByHand(t *testing.T) {
	path := byHand(t, "DELETE FROM change_log")
	s := opened(t, path)
	if r := mustCheck(t, s); r.ByOthers > 0 || len(r.Damage) > 0 {
		t.Errorf("%d without a sum, %v", r.ByOthers, r.Damage)
	}
	if err := Script(t, path, "UPDATE keyword SET bid = 9; DELETE FROM change_log"); err != nil {
		t.Fatal(err)
	}
	if r := mustCheck(t, s); r.ByOthers != 2 || len(r.Damage) > 0 {
		t.Errorf("deleted: %d without a sum, %v", r.ByOthers, r.Damage)
	}
	s.Close()
	if r := mustCheck(t, opened(t, path)); r.ByOthers > 0 || len(r.Damage) > 0 {
		t.Errorf("opened again: %d without a sum, %v", r.ByOthers, r.Damage)
	}
}

// TestDamageIsNamed changes rows without firing the triggers. Reading the entity fails with an error that names it,
// and others can still be read. Neither an import of the same data nor one of other data hides the damage.
func TestDamageIsNamed(t *testing.T) {
	if testing.Short() {
		t.Skip("short: one goroutine at a time, which no race detector need watch")
	}
	for _, c := range []struct {
		sql  string
		kind backend.Kind
		id   uint64
	}{
		{"DROP TRIGGER keyword_update; UPDATE keyword SET bid = 5 WHERE id = 30", backend.KindGroup, 4},
		{"DROP TRIGGER keyword_delete; DELETE FROM keyword WHERE id = 30", backend.KindGroup, 4},
		{"DROP TRIGGER group_negative_update; UPDATE group_negative SET enabled = 0 WHERE group_id = 6", backend.KindGroup, 6},
		{"DROP TRIGGER ad_update; UPDATE ad SET final_url = 'https://elsewhere.example/' WHERE group_id = 7", backend.KindGroup, 7},
		{"DROP TRIGGER ad_group_update; UPDATE ad_group SET bid = 1 WHERE id = 8", backend.KindGroup, 8},
		{"UPDATE ad_group SET sum = sum + 1 WHERE id = 8", backend.KindGroup, 8},
		{"DROP TRIGGER campaign_update; UPDATE campaign SET daily_budget = 1 WHERE id = 2", backend.KindCampaign, 2},
		{"DROP TRIGGER campaign_negative_insert; DROP TRIGGER campaign_negative_update; INSERT INTO campaign_negative (campaign_id, words, type, text) VALUES (2, 'x', 0, 'x')", backend.KindCampaign, 2},
		{"DROP TRIGGER advertiser_negative_insert; DROP TRIGGER advertiser_negative_update; INSERT INTO advertiser_negative (advertiser_id, words, type, text) VALUES (1, 'x', 0, 'x')", backend.KindAdvertiser, 1},
		{"DROP TRIGGER advertiser_update; UPDATE advertiser SET enabled = 0 WHERE id = 1", backend.KindAdvertiser, 1},
	} {
		t.Run(c.sql, func(t *testing.T) {
			ctx := t.Context()
			path := filepath.Join(t.TempDir(), "ads.db")
			s := opened(t, path)
			for _, err := range []error{stock(ctx, s, 1_000_000), Script(t, path, c.sql)} {
				if err != nil {
					t.Fatal(err)
				}
			}
			for _, then := range []func() error{
				func() error { return nil },
				func() error { return stock(ctx, s, 1_000_000) },
				func() error { return stock(ctx, s, 2_000_000) },
				func() error { _, err := s.Compact(ctx, 1<<40, 0); return err },
			} {
				if err := then(); err != nil {
					t.Fatal(err)
				}
				expectDamage(t, s, c.kind, c.id)
			}
			if c.kind == backend.KindGroup {
				removeAndWrite(t, s, c.id)
			}
		})
	}
}

// removeAndWrite removes a damaged group and writes it again, which is the repair without a backup.
func removeAndWrite(t *testing.T, s *Store, id uint64) {
	t.Helper()
	ctx := t.Context()
	tx, err := s.Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	remove := backend.GroupPatch{Status: backend.Remove}
	if removed, err := tx.Group(ctx, (id-1)/4+1, fmt.Sprint("Group ", id-1), remove); err != nil || removed != id {
		t.Fatal(removed, err)
	}
	for _, err := range []error{tx.Commit(ctx), stock(ctx, s, 2_000_000)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, d := range mustCheck(t, s).Damage {
		if d.Kind != 0 {
			t.Errorf("removed and written again: %v", d)
		}
	}
}

// TestWrongVersion: an entity whose version is damaged cannot be read until it is written again; a damaged row of it
// is then found, too.
func TestWrongVersion(t *testing.T) {
	for _, version := range []string{"version - 1", "version + 1"} {
		ctx := t.Context()
		path := filepath.Join(t.TempDir(), "ads.db")
		s := opened(t, path)
		sql := "UPDATE ad_group SET version = " + version + " WHERE id IN (8, 9); DROP TRIGGER ad_update; UPDATE ad SET path2 = 'x' WHERE group_id = 9"
		for _, err := range []error{stock(ctx, s, 1_000_000), Script(t, path, sql)} {
			if err != nil {
				t.Fatal(err)
			}
		}
		expectDamage(t, s, backend.KindGroup, 8)
		if err := stock(ctx, s, 2_000_000); err != nil {
			t.Fatal(err)
		}
		expectDamage(t, s, backend.KindGroup, 9)
		for _, d := range mustCheck(t, s).Damage {
			if d.ID == 8 {
				t.Errorf("%s, written again: %v", version, d)
			}
		}
	}
}

func expectDamage(t *testing.T, s *Store, kind backend.Kind, id uint64) {
	t.Helper()
	n, err := s.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	read := func(id uint64) error {
		var err error
		switch kind {
		case backend.KindAdvertiser:
			_, err = n.Advertisers(t.Context(), []uint64{id})
		case backend.KindCampaign:
			_, err = n.Campaigns(t.Context(), []uint64{id})
		default:
			_, err = n.Items(t.Context(), []uint64{id})
		}
		return err
	}
	var d *backend.Damage
	if err := read(id); !fault.Is(err, fault.Corrupt) || !errors.As(err, &d) || d.Kind != kind || d.ID != id {
		t.Errorf("reading %v %d: %v", kind, id, err)
	}
	if err := read(id%2 + 1); id > 2 && err != nil { // groups 1 and 2 are unchanged
		t.Errorf("reading another one: %v", err)
	}
	named := false
	for _, d := range mustCheck(t, s).Damage {
		named = named || d.Kind == kind && d.ID == id
	}
	if !named {
		t.Errorf("a check does not report %v %d", kind, id)
	}
}

// TestClockBehindTheLog: a database whose next clock was lost does not write changes at clocks that readers have
// passed.
func TestClockBehindTheLog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ads.db")
	s := opened(t, path)
	ctx := t.Context()
	if err := stock(ctx, s, 1); err != nil {
		t.Fatal(err)
	}
	before, err := s.Newest(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Compact(ctx, before.Clock, 0); err != nil {
		t.Fatal(err)
	}
	if err := Script(t, path, "UPDATE sqlite_sequence SET seq = 3 WHERE name = 'change_log'"); err != nil {
		t.Fatal(err)
	}
	if r := mustCheck(t, s); len(r.Damage) == 0 {
		t.Error("a check does not report it")
	}
	if err := write(ctx, s, 99, 1); err != nil {
		t.Fatal(err)
	}
	if changes, err := s.Changes(ctx, before, 10); err != nil || len(changes) != 3 || changes[0].Clock != before.Clock+1 {
		t.Errorf("%v, %v", changes, err)
	}
}
