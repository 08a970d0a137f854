package postgres_test

import (
	"os"
	"reflect"
	"sync"
	"testing"

	"adshard/backend"
	"adshard/backend/backendtest"
	"adshard/backend/postgres"
	"adshard/fault"
)

// content is all that readers see of a database.
type content struct {
	ID     string
	Newest backend.Position
	backendtest.State
}

func contents(t *testing.T, s *postgres.Store) (all content) {
	t.Helper()
	var err error
	all.ID, err = s.ID(t.Context())
	must(t, err)
	all.Newest, err = s.Newest(t.Context())
	must(t, err)
	all.State = backendtest.ReadNow(t, s)
	return all
}

// fresh creates a database that no other test uses, and opens it.
func fresh(t *testing.T) (name string, s *postgres.Store) {
	t.Helper()
	name = newName()
	do(t, "postgres", "CREATE DATABASE "+name)
	s, err := postgres.Open(t.Context(), shared.URL(name), postgres.Options{Create: true})
	must(t, err)
	t.Cleanup(func() { _ = s.Close() })
	return name, s
}

// TestTheNextSchema: a program of the next version migrates a database with all its data, and this program then
// refuses it.
func TestTheNextSchema(t *testing.T) {
	name, s := fresh(t)
	backendtest.Fill(t, s, 30)
	must(t, s.SetBudget(t.Context(), 1, backend.BudgetMark{Exhausted: true}))
	want := contents(t, s)
	if len(want.Items) != 30 {
		t.Fatalf("%d groups", len(want.Items))
	}
	const note = "-- +goose Up\nALTER TABLE adshard.campaign ADD COLUMN note text NOT NULL DEFAULT 'none';\n"
	var o postgres.Options
	o.Follow(note + "DELETE FROM nothing;\n")
	if err := opening(t, shared.URL(name), o); err == nil {
		t.Error("a step that fails is passed over")
	}
	same, err := postgres.Open(t.Context(), shared.URL(name), postgres.Options{})
	must(t, err)
	if got := contents(t, same); !reflect.DeepEqual(got, want) { // opening it has changed nothing
		t.Errorf("%+v\nwant %+v", got, want)
	}
	must(t, same.Close())
	o.Follow(note)
	newer, err := postgres.Open(t.Context(), shared.URL(name), o)
	must(t, err)
	defer newer.Close()
	if got := contents(t, newer); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v\nwant %+v", got, want)
	}
	do(t, name, "SELECT note FROM adshard.campaign")
	if err := opening(t, shared.URL(name), postgres.Options{}); !fault.Is(err, fault.Version) {
		t.Errorf("a program of the version before: %v", err)
	}
}

// TestDatabasesOfSchema4: databases of schema 4 are migrated with all their data. Afterwards they have the same content as
// one that was created with this schema, and roles that could write negatives can write those of advertisers.
func TestDatabasesOfSchema4(t *testing.T) {
	made, err := os.ReadFile("testdata/schema4.sql")
	must(t, err)
	const filled = `
INSERT INTO adshard.advertiser (name, time_zone) VALUES ('A', 'Europe/Prague');
INSERT INTO adshard.campaign (advertiser_id, name, withheld, standard_delivery, daily_budget) VALUES (1, 'C', 5, true, 7);
INSERT INTO adshard.ad_group (campaign_id, advertiser_id, name) VALUES (1, 1, 'G'), (1, 1, 'H'), (1, 1, 'I');
INSERT INTO adshard.keyword (group_id, words, type, text, learned) VALUES (1, 'a', 2, 'A', 0), (1, 'b', 2, 'B', 23), (2, 'a', 0, 'A', 0);
INSERT INTO adshard.group_negative (group_id, words, type, text) VALUES (1, 'free', 2, 'free');
INSERT INTO adshard.campaign_negative (campaign_id, words, type, text) VALUES (1, 'used', 2, 'used');
INSERT INTO adshard.ad (group_id, headlines, descriptions) VALUES (2, '["x"]', '[]');
DELETE FROM adshard.keyword WHERE group_id = 2;
UPDATE adshard.campaign SET budget_exhausted = true;`
	earlier := newName()
	do(t, "postgres", "CREATE DATABASE "+earlier)
	do(t, earlier, string(made)+filled)
	do(t, earlier, "DROP ROLE IF EXISTS kept_import; CREATE ROLE kept_import; GRANT SELECT, INSERT ON adshard.campaign_negative TO kept_import;"+
		" GRANT UPDATE (text) ON adshard.campaign_negative TO kept_import")
	var programs sync.WaitGroup
	for range 3 {
		programs.Go(func() {
			if err := opening(t, shared.URL(earlier), postgres.Options{}); err != nil {
				t.Error(err)
			}
		})
	}
	programs.Wait()
	name, s := fresh(t)
	do(t, name, filled)
	want := contents(t, s)
	o, err := postgres.Open(t.Context(), shared.URL(earlier), postgres.Options{})
	must(t, err)
	defer o.Close()
	got := contents(t, o)
	got.ID, got.Newest.Mark = want.ID, want.Newest.Mark
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v\nwant %+v", got, want)
	}
	do(t, earlier, `DO $$ BEGIN
  IF NOT (has_table_privilege('kept_import', 'adshard.advertiser_negative', 'SELECT, INSERT')
    AND has_column_privilege('kept_import', 'adshard.advertiser_negative', 'text', 'UPDATE')
    AND NOT has_column_privilege('kept_import', 'adshard.advertiser_negative', 'enabled', 'UPDATE')) THEN
    RAISE 'a role that could write negatives has other rights on those of advertisers';
  END IF;
END $$; DROP OWNED BY kept_import; DROP ROLE kept_import`)
}

// TestSchemasThatWereNotReleased: a database with a schema that was never released is refused.
func TestSchemasThatWereNotReleased(t *testing.T) {
	name, _ := fresh(t)
	do(t, name, "DELETE FROM adshard.goose_db_version WHERE version_id >= 7; INSERT INTO adshard.goose_db_version (version_id, is_applied) VALUES (3, true)")
	_, _, probed := postgres.Probe(t.Context(), shared.URL(name), "")
	for what, err := range map[string]error{
		"opened": opening(t, shared.URL(name), postgres.Options{}), "to be made": opening(t, shared.URL(name), postgres.Options{Create: true}), "probed": probed,
	} {
		if !fault.Is(err, fault.Version) {
			t.Errorf("%s: %v", what, err)
		}
	}
}
