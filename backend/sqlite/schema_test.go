package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"adshard/backend"
	"adshard/backend/backendtest"
	"adshard/fault"
)

// note adds a note to campaigns.
const note = "ALTER TABLE campaign ADD COLUMN note TEXT NOT NULL DEFAULT 'none';\n"

// next returns a schema that comes after this program's, with one more step.
func next(t *testing.T, step string) schema {
	t.Helper()
	files := fstest.MapFS{fmt.Sprintf("migrations/%05d_note.sql", schemaVersion+1): {Data: []byte("-- +goose Up\n" + step)}}
	names, err := fs.Glob(migrations, "migrations/*.sql")
	for _, name := range names {
		data, e := migrations.ReadFile(name)
		files[name], err = &fstest.MapFile{Data: data}, errors.Join(err, e)
	}
	if err != nil {
		t.Fatal(err)
	}
	return schema{files, schemaVersion + 1}
}

// content is all that readers see of a database.
type content struct {
	ID     string
	Newest backend.Position
	backendtest.State
}

func contents(t *testing.T, s *Store) (all content) {
	t.Helper()
	var err error
	if all.ID, err = s.ID(t.Context()); err != nil {
		t.Fatal(err)
	}
	if all.Newest, err = s.Newest(t.Context()); err != nil {
		t.Fatal(err)
	}
	if all.State = backendtest.ReadNow(t, s); len(all.Items) != 2 {
		t.Fatal(all.Items)
	}
	return all
}

// TestTheNextSchema: a program of the next version migrates a database with all its data, and this program then
// refuses it.
func TestTheNextSchema(t *testing.T) {
	path := byHand(t, `
UPDATE campaign SET hold = 1, withheld = 5, standard_delivery = 1;
UPDATE advertiser SET time_zone = 'Europe/Prague';
UPDATE keyword SET learned = 16 + 7 WHERE words = 'b';
DELETE FROM change_log;`)
	s := opened(t, path)
	if err := s.SetBudget(t.Context(), 1, backend.BudgetMark{Exhausted: true}); err != nil {
		t.Fatal(err)
	}
	want := contents(t, s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := opening(t, path, Options{BusyTimeout: time.Millisecond, schema: next(t, note+"DELETE FROM nothing;\n")}); err == nil {
		t.Error("a step that fails is passed over")
	}
	s = opened(t, path) // the failed step has changed nothing
	if got := contents(t, s); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v\nwant %+v", got, want)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	newer, err := Open(t.Context(), path, Options{schema: next(t, note)})
	if err != nil {
		t.Fatal(err)
	}
	if got := contents(t, newer); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v\nwant %+v", got, want)
	}
	if r := mustCheck(t, newer); r.ByOthers > 0 || len(r.Damage) > 0 {
		t.Errorf("%d without a sum, %v", r.ByOthers, r.Damage)
	}
	if n, err := borrow(t, newer).number("SELECT count(*) FROM campaign WHERE note = 'none'"); err != nil || n != 1 {
		t.Errorf("%d campaigns have a note, %v", n, err)
	}
	if err := opening(t, path, Options{}); !fault.Is(err, fault.Version) {
		t.Errorf("a program of the version before: %v", err)
	}
}

// TestDatabasesOfSchema7: databases of schema 7 are migrated with all their data: ids, the clock, holds, learned
// qualities, budgets. Afterwards they have the same content as one that was created with this schema, whichever of several
// programs migrates them.
func TestDatabasesOfSchema7(t *testing.T) {
	made, err := os.ReadFile("testdata/schema7.sql")
	if err != nil {
		t.Fatal(err)
	}
	const more = `
UPDATE campaign SET withheld = 5, standard_delivery = 1, budget_exhausted = 1, daily_budget = 7;
UPDATE keyword SET learned = 16 + 7 WHERE words = 'b';
DELETE FROM keyword WHERE words = 'a' AND group_id = 2;
INSERT INTO control (key, value) VALUES ('spend', x'0102');`
	path := filepath.Join(t.TempDir(), "earlier.db")
	if err := Script(t, path, string(made)+base+more); err != nil {
		t.Fatal(err)
	}
	id, _, err := Probe(t.Context(), path, "spend")
	if id != "" || err != nil {
		t.Errorf("before it is brought over: %q, %v", id, err)
	}
	var programs sync.WaitGroup
	for range 3 {
		programs.Go(func() {
			if err := opening(t, path, Options{}); err != nil {
				t.Error(err)
			}
		})
	}
	programs.Wait()
	s := opened(t, path)
	got, want := contents(t, s), contents(t, opened(t, byHand(t, more)))
	if got.ID != "0123456789abcdef0123456789abcdef" {
		t.Errorf("the id is %q", got.ID)
	}
	got.ID, got.Newest.Mark = want.ID, want.Newest.Mark
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v\nwant %+v", got, want)
	}
	if value, err := borrow(t, s).control("spend"); err != nil || string(value) != "\x01\x02" {
		t.Errorf("a control value is %x, %v", value, err)
	}
	if r := mustCheck(t, s); len(r.Damage) > 0 {
		t.Error(r.Damage)
	}
	if err := whole(t.Context(), s); err != nil {
		t.Error(err)
	}
}

// TestSchemasThatWereNotReleased: a database with a schema that was never released is refused and left unchanged.
func TestSchemasThatWereNotReleased(t *testing.T) {
	path := byHand(t, "DELETE FROM goose_db_version WHERE version_id > 10; UPDATE goose_db_version SET version_id = 6 WHERE version_id = 10")
	for name, err := range map[string]error{
		"opened": opening(t, path, Options{}), "to be made": opening(t, path, Options{Create: true}), "probed": probing(t, path),
		"copied": copyDatabase(t.Context(), path, filepath.Join(t.TempDir(), "copy.db"), Options{}, nil, nil),
	} {
		if !fault.Is(err, fault.Version) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func probing(t *testing.T, path string) error {
	_, _, err := Probe(t.Context(), path, "")
	return err
}
