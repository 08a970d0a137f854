package postgres_test

import (
	"reflect"
	"testing"

	"adshard/backend"
	"adshard/backend/backendtest"
	"adshard/backend/postgres"
	"adshard/fault"
)

// contents are what readers see of a database's owners and groups.
func contents(t *testing.T, s *postgres.Store) (all struct {
	ID          string
	Newest      backend.Position
	Advertisers []*backend.Advertiser
	Campaigns   []*backend.Campaign
	Items       []*backend.Item
}) {
	t.Helper()
	var err error
	all.ID, err = s.ID(t.Context())
	must(t, err)
	all.Newest, err = s.Newest(t.Context())
	must(t, err)
	n, err := s.Snapshot(t.Context())
	must(t, err)
	defer n.Close()
	all.Advertisers, err = n.Advertisers(t.Context(), nil)
	must(t, err)
	all.Campaigns, err = n.Campaigns(t.Context(), nil)
	must(t, err)
	all.Items, err = n.Items(t.Context(), []uint64{1, 2, 3})
	must(t, err)
	return all
}

// TestTheNextSchema: a program of the next version brings a database over with all that it holds, and this one then
// refuses it.
func TestTheNextSchema(t *testing.T) {
	p := newPlace(t).(place)
	s := open(t, p)
	backendtest.Fill(t, s, 30)
	must(t, s.SetBudget(t.Context(), 1, backend.BudgetMark{Exhausted: true}))
	want := contents(t, s)
	if len(want.Items) != 3 {
		t.Fatalf("%d groups", len(want.Items))
	}
	var o postgres.Options
	o.Follow("-- +goose Up\nALTER TABLE adshard.campaign ADD COLUMN label text NOT NULL DEFAULT 'none';\n")
	newer, err := postgres.Open(t.Context(), shared.URL(p.name), o)
	must(t, err)
	defer newer.Close()
	if got := contents(t, newer); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v\nwant %+v", got, want)
	}
	do(t, p.name, "SELECT label FROM adshard.campaign")
	if err := opening(t, shared.URL(p.name), postgres.Options{}); !fault.Is(err, fault.Version) {
		t.Errorf("a program of the version before: %v", err)
	}
}

// TestSchemasThatWereNotReleased: a database of one is refused.
func TestSchemasThatWereNotReleased(t *testing.T) {
	p := newPlace(t).(place)
	open(t, p)
	do(t, p.name, "DELETE FROM adshard.goose_db_version WHERE version_id >= 7; INSERT INTO adshard.goose_db_version (version_id, is_applied) VALUES (6, true)")
	_, _, probed := postgres.Probe(t.Context(), shared.URL(p.name), "")
	for name, err := range map[string]error{
		"opened": opening(t, shared.URL(p.name), postgres.Options{}), "to be made": opening(t, shared.URL(p.name), postgres.Options{Create: true}), "probed": probed,
	} {
		if !fault.Is(err, fault.Version) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
