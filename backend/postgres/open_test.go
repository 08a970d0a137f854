package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"adshard/backend"
	"adshard/backend/postgres"
	"adshard/fault"
)

// TestURL: errors of a wrong URL do not quote the secrets in it.
func TestURL(t *testing.T) {
	for _, c := range []struct {
		url  string
		kind fault.Kind
		says string
	}{
		{"postgres://u:secret@h/d", fault.Invalid, "password file"},
		{"postgres:///d?password=secret", fault.Invalid, "password file"},
		{"postgres://u@h/d?replica=/nowhere&password=secret", fault.Invalid, "password file"},
		{"postgres://u@h/d?replica=", fault.Invalid, "replica= names no host"},
		{"postgres://u:sec%ret@h/d", fault.Invalid, "postgres://USER@HOST/DATABASE"},
		{"postgres://h/d?sslmode=secret", fault.Invalid, "sslmode"},
		{shared.URL("none"), fault.NotFound, "createdb"},
		{shared.URL("postgres"), fault.NotFound, "adshard import"},
		{"postgres:///d?host=/nowhere", fault.Unavailable, "server"},
		{shared.URL("template1") + "&target_session_attrs=read-only", fault.Unavailable, "server"},
	} {
		_, err := postgres.Open(t.Context(), c.url, postgres.Options{})
		if !fault.Is(err, c.kind) || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "u:sec") {
			t.Errorf("%s: %v of kind %v, want %v and %q", c.url, err, fault.KindOf(err), c.kind, c.says)
		}
	}
}

// TestOpenTogether lets several programs create the schema at once.
func TestOpenTogether(t *testing.T) {
	name := newName()
	do(t, "postgres", "CREATE DATABASE "+name)
	var programs sync.WaitGroup
	for range 4 {
		programs.Go(func() {
			s, err := postgres.Open(t.Context(), shared.URL(name), postgres.Options{Create: true})
			if err != nil {
				t.Error(err)
				return
			}
			s.Close()
		})
	}
	programs.Wait()
	do(t, name, "INSERT INTO adshard.goose_db_version (version_id, is_applied) VALUES (99, true)")
	if _, err := postgres.Open(t.Context(), shared.URL(name), postgres.Options{Create: true}); !fault.Is(err, fault.Version) {
		t.Errorf("a newer schema: %v", err)
	}
}

// TestRoles tries what each role may do; all other calls are refused.
func TestRoles(t *testing.T) {
	ctx := t.Context()
	p := newPlace(t).(place)
	owner := open(t, p)
	add(t, owner, "C", "G", "a")
	do(t, p.name, postgres.Roles)
	do(t, p.name, postgres.Roles) // again, which does no harm
	must(t, owner.SaveControl(ctx, "balancer/event-keys", []byte("secret")))
	must(t, owner.SaveControl(ctx, "balancer/order", []byte("order")))
	for _, role := range []string{"read", "import", "serve", "collect"} {
		do(t, p.name, fmt.Sprintf("DROP ROLE IF EXISTS test_%[1]s; CREATE ROLE test_%[1]s LOGIN; GRANT adshard_%[1]s TO test_%[1]s", role))
	}
	as := func(role string) *postgres.Store {
		url := strings.Replace(shared.URL(p.name), "user=postgres", "user=test_"+role, 1)
		s, err := postgres.Open(ctx, url, postgres.Options{})
		must(t, err)
		t.Cleanup(func() { s.Close() })
		return s
	}
	for i, role := range []string{"read", "import", "serve", "collect"} {
		s := as(role)
		for _, call := range []struct {
			name string
			may  [4]bool // read, import, serve, collect
			do   func() error
		}{
			{"read all", [4]bool{true, true, true, true}, func() error { return readAll(ctx, s) }},
			{"newest", [4]bool{true, true, true, true}, func() error { _, err := s.Newest(ctx); return err }},
			{"server", [4]bool{true, true, true, true}, func() error { _, err := s.Server(ctx); return err }},
			{"import", [4]bool{false, true, false, false}, func() error { return importEverything(ctx, s, role) }},
			{"mark a budget", [4]bool{false, false, true, true}, func() error { return s.SetBudget(ctx, 1, backend.BudgetMark{Exhausted: i%2 == 0}) }},
			{"set a share", [4]bool{false, false, true, true}, func() error {
				return s.SetBudget(ctx, 1, backend.BudgetMark{ShareOnly: true, Share: backend.To(uint32(i + 1))})
			}},
			{"save control if", [4]bool{false, false, true, false}, func() error { return s.SaveControlIf(ctx, role, nil, role, nil) }},
			{"save notes", [4]bool{false, false, true, true}, func() error { return saveNotes(ctx, s) }},
			{"load control", [4]bool{true, false, true, true}, func() error { _, err := s.LoadControl(ctx, "k"); return err }},
			{"save control", [4]bool{false, false, true, false}, func() error { return s.SaveControl(ctx, "k", nil) }},
			{"change control", [4]bool{false, false, true, false}, func() error { return s.SaveControl(ctx, "balancer/order", []byte(role)) }},
			{"read documents", [4]bool{true, true, true, true}, func() error { _, err := s.Documents(ctx, 0, 1); return err }},
			{"save a document", [4]bool{false, true, false, false}, func() error { _, err := s.SaveDocument(ctx, role, 0, []byte("x")); return err }},
			{"hold", [4]bool{false, false, true, false}, func() error { return s.Hold(ctx, "r", 1) }},
			{"compact", [4]bool{false, false, true, false}, func() error { _, err := s.Compact(ctx, 1, 0); return err }},
			{"compact if", [4]bool{false, false, true, false}, func() error { _, err := s.CompactIf(ctx, "r", 1, 0, "none", nil); return err }},
		} {
			err := call.do()
			if call.may[i] && err != nil || !call.may[i] && (!fault.Is(err, fault.Unavailable) || !strings.Contains(err.Error(), "db roles")) {
				t.Errorf("%s, %s: %v", role, call.name, err)
			}
		}
		if role != "import" { // which may read neither value
			keys, err := s.LoadControl(ctx, "balancer/event-keys")
			must(t, err)
			order, err := s.LoadControl(ctx, "balancer/order")
			must(t, err)
			if (keys != nil) != (role == "serve" || role == "collect") || order == nil {
				t.Errorf("%s reads %q and %q of control", role, keys, order)
			}
		}
		mayNot(t, p, "test_"+role)
	}
	do(t, p.name, "DROP ROLE IF EXISTS test_learn; CREATE ROLE test_learn LOGIN; GRANT adshard_collect, adshard_import TO test_learn")
	must(t, learns(ctx, as("learn")))
	do(t, p.name, "DROP ROLE IF EXISTS test_both; CREATE ROLE test_both LOGIN; GRANT adshard_collect, adshard_serve TO test_both")
	both := as("both")
	must(t, errors.Join(saveNotes(ctx, both), both.SaveControl(ctx, "balancer/order", []byte("both")), both.SaveControl(ctx, "balancer/new", nil)))
}

// TestCollectorsLeaveTheBalancersState: a collector's login can change only its own notes, with any statement.
func TestCollectorsLeaveTheBalancersState(t *testing.T) {
	p := newPlace(t).(place)
	owner := open(t, p)
	do(t, p.name, postgres.Roles)
	must(t, owner.SaveControl(t.Context(), "balancer/pacing", []byte("was")))
	others := []string{"balancer", "balancer/epoch", "balancer/lease", "balancer/order", "balancer/erasures", "receipt/1", "pacing"}
	for _, key := range others {
		must(t, owner.SaveControl(t.Context(), key, []byte("was")))
	}
	do(t, p.name, "DROP ROLE IF EXISTS test_notes; CREATE ROLE test_notes LOGIN; GRANT adshard_collect TO test_notes")
	c, err := pgx.Connect(t.Context(), strings.Replace(shared.URL(p.name), "user=postgres", "user=test_notes", 1))
	must(t, err)
	defer c.Close(context.Background())
	done, err := c.Exec(t.Context(), "UPDATE adshard.control SET value = 'now'")
	must(t, err)
	if done.RowsAffected() != 1 {
		t.Errorf("a collector changed %d values", done.RowsAffected())
	}
	for _, sql := range []string{"UPDATE adshard.control SET key = 'balancer/model' WHERE key = 'balancer/pacing'", "DELETE FROM adshard.control",
		"INSERT INTO adshard.control VALUES ('balancer/model', '')", "TRUNCATE adshard.control"} {
		if _, err := c.Exec(t.Context(), sql); err == nil {
			t.Errorf("a collector may %s", sql)
		}
	}
	for _, key := range others {
		if v, err := owner.LoadControl(t.Context(), key); err != nil || string(v) != "was" {
			t.Errorf("%s is %q now, %v", key, v, err)
		}
	}
}

// saveNotes saves each control value that belongs to collectors, twice.
func saveNotes(ctx context.Context, s backend.Store) error {
	var failed error
	for _, key := range []string{"balancer/event-keys", "other/pacing", "balancer/learning", "erasures"} {
		failed = errors.Join(failed, s.SaveControl(ctx, key, []byte("secret")), s.SaveControl(ctx, key, []byte("secret")))
	}
	return failed
}

// learns writes what a learning collector writes.
func learns(ctx context.Context, s backend.Store) error {
	if err := s.SaveControl(ctx, "erasures", []byte("none")); err != nil {
		return err
	}
	return write(ctx, s, func(tx backend.Tx) error {
		if err := tx.Expect(ctx, "erasures", []byte("none")); err != nil {
			return err
		}
		return tx.Keyword(ctx, 1, backend.KeywordPatch{Text: "a", Words: "a", Learned: backend.To(backend.NewLearned(9, 3, 1, 1))})
	})
}

// mayNot tries statements that no role may run by itself.
func mayNot(t *testing.T, p place, role string) {
	t.Helper()
	c, err := pgx.Connect(t.Context(), strings.Replace(shared.URL(p.name), "user=postgres", "user="+role, 1))
	must(t, err)
	defer c.Close(context.Background())
	for _, sql := range []string{
		"UPDATE adshard.state SET clock = 0", "UPDATE adshard.state SET database_id = ''", "SELECT * FROM adshard.state FOR UPDATE",
		"INSERT INTO adshard.change_log VALUES (1000, 1, 1, 1, 1, 1, false)", "UPDATE adshard.change_log SET mark = 1",
		"INSERT INTO adshard.writing (tx) VALUES ('1')", "INSERT INTO adshard.pending (tx, kind, id) VALUES ('1', 1, 1)",
		"UPDATE adshard.compacted SET clock = 0", "UPDATE adshard.ad_group SET version = 0", "SELECT setval('adshard.keyword_id', 1)",
		"CREATE TABLE adshard.t ()", "DROP TABLE adshard.keyword", "ALTER TABLE adshard.keyword DISABLE TRIGGER ALL",
		"CREATE OR REPLACE FUNCTION adshard.begin_write() RETURNS void LANGUAGE sql AS ''", "SET session_replication_role = replica",
	} {
		if _, err := c.Exec(t.Context(), sql); err == nil {
			t.Errorf("%s may %s", role, sql)
		}
	}
}

func readAll(ctx context.Context, s *postgres.Store) error {
	n, err := s.Snapshot(ctx)
	if err != nil {
		return err
	}
	defer n.Close()
	for _, err := range n.All(ctx) {
		if err != nil {
			return err
		}
	}
	if _, err := n.Campaigns(ctx, nil); err != nil {
		return err
	}
	_, err = n.Advertisers(ctx, nil)
	return err
}

// importEverything creates, changes and removes each kind of entity.
func importEverything(ctx context.Context, s *postgres.Store, name string) error {
	for _, status := range []backend.Status{backend.Keep, backend.Pause, backend.Remove} {
		err := write(ctx, s, func(tx backend.Tx) error {
			a, err := tx.Advertiser(ctx, name)
			if err != nil {
				return err
			}
			c, err := tx.Campaign(ctx, a, "C", backend.CampaignPatch{
				Languages: backend.To(backend.LanguagesOf("en")), Hold: backend.HoldTo(backend.HeldBy(uint64(status) + 1))})
			if err != nil {
				return err
			}
			g, err := tx.Group(ctx, c, "G", backend.GroupPatch{Bid: backend.To(uint64(status)), Hold: backend.HoldTo(backend.HeldBy(uint64(status) + 1))})
			if err != nil {
				return err
			}
			for entity, owner := range map[backend.Entity]uint64{backend.EntityCampaign: a, backend.EntityGroup: c} {
				from := map[backend.Entity]string{backend.EntityCampaign: "C", backend.EntityGroup: "G"}[entity]
				if _, err := tx.Rename(ctx, entity, owner, from, "other"); err != nil {
					return err
				}
				if _, err := tx.Rename(ctx, entity, owner, "other", from); err != nil {
					return err
				}
			}
			return errors.Join(
				tx.Keyword(ctx, g, backend.KeywordPatch{Text: "a", Words: "a", Status: status}),
				tx.Negative(ctx, backend.NegativeOwner{Group: g}, backend.NegativePatch{Text: "a", Words: "a", Status: status}),
				tx.Negative(ctx, backend.NegativeOwner{Campaign: c}, backend.NegativePatch{Text: "a", Words: "a", Status: status}),
				tx.Negative(ctx, backend.NegativeOwner{Advertiser: a}, backend.NegativePatch{Text: "a", Words: "a", Status: status}),
				tx.Ad(ctx, g, backend.AdPatch{Headlines: []string{"a"}, Status: status}),
				tx.UpdateAdvertiser(ctx, a, backend.AdvertiserPatch{Status: status}),
			)
		})
		if err != nil {
			return err
		}
	}
	return nil
}
