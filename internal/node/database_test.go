package node

import (
	"fmt"
	"path/filepath"
	"testing"

	"adshard/backend"
	"adshard/backend/sqlite"
	"adshard/search"
	"os"
)

// Database is a database in a file, for the tests of one package and another.
type Database struct {
	t    testing.TB
	path string
	db   *sqlite.Store
}

// newDatabase creates an empty database, which is closed when the test ends.
func newDatabase(t testing.TB) *Database {
	t.Helper()
	d := &Database{t: t, path: filepath.Join(t.TempDir(), "ads.db")}
	d.open(sqlite.Options{Create: true})
	return d
}

// openDatabase opens the database in a file.
func openDatabase(t testing.TB, path string) *Database {
	t.Helper()
	d := &Database{t: t, path: path}
	d.open(sqlite.Options{})
	return d
}

func (d *Database) open(o sqlite.Options) {
	d.t.Helper()
	db, err := sqlite.Open(d.t.Context(), d.path, o)
	d.must(err)
	d.db = db
	d.t.Cleanup(func() { _ = db.Close() })
}

// url names the database in configurations.
func (d *Database) url() string { return "sqlite:" + d.path }

// write creates or changes groups in one transaction; each has keywords and an
// ad.
func (d *Database) write(advertisers, groups, keywords int, bid uint64) {
	d.t.Helper()
	ctx := d.t.Context()
	tx, err := d.db.Begin(ctx)
	d.must(err)
	defer tx.Rollback()
	for a := range advertisers {
		adv, err := tx.Advertiser(ctx, fmt.Sprint("advertiser ", a))
		d.must(err)
		campaign, err := tx.Campaign(ctx, adv, "campaign", backend.CampaignPatch{Languages: backend.To([]string{"en"})})
		d.must(err)
		for g := range groups {
			group, err := tx.Group(ctx, campaign, fmt.Sprint("group ", g), backend.GroupPatch{Bid: backend.To(bid)})
			d.must(err)
			for k := range keywords {
				text := fmt.Sprintf("word%d usb%d cable", k, g)
				d.must(tx.Keyword(ctx, group, backend.KeywordPatch{Text: text, Words: text, Type: search.Broad}))
			}
			d.must(tx.Ad(ctx, group, backend.AdPatch{Headlines: []string{"h"}, Descriptions: []string{"d"}, FinalURL: "https://a.example/"}))
		}
	}
	d.must(tx.Commit(ctx))
}

func (d *Database) must(err error) {
	d.t.Helper()
	if err != nil {
		d.t.Fatal(err)
	}
}

// reopen closes the database, lets change work on its files, and opens it again.
// Nobody else may have it open.
func (d *Database) reopen(change func(path string)) {
	d.t.Helper()
	d.must(d.db.Close())
	change(d.path)
	d.open(sqlite.Options{Create: true})
}

// backup returns the database's file as it is; nobody else may have it open.
func (d *Database) backup() (copied []byte) {
	d.reopen(func(path string) {
		var err error
		copied, err = os.ReadFile(path)
		d.must(err)
	})
	return copied
}

// restore puts a backup in the database's place; nobody else may have it open.
func (d *Database) restore(copied []byte) {
	d.reopen(func(path string) {
		for _, name := range []string{path, path + "-wal", path + "-shm"} {
			_ = os.Remove(name)
		}
		d.must(os.WriteFile(path, copied, 0o600))
	})
}
