// Package nodetest provides databases for the tests of processes.
package nodetest

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"adshard/backend"
	"adshard/backend/sqlite"
	"adshard/search"
)

// Database is a database in a file.
type Database struct {
	T    testing.TB
	Path string
	DB   *sqlite.Store
}

// NewDatabase creates an empty database, which is closed when the test ends.
func NewDatabase(t testing.TB) *Database {
	t.Helper()
	d := &Database{T: t, Path: filepath.Join(t.TempDir(), "ads.db")}
	d.open(sqlite.Options{Create: true})
	return d
}

// OpenDatabase opens the database in a file.
func OpenDatabase(t testing.TB, path string) *Database {
	t.Helper()
	d := &Database{T: t, Path: path}
	d.open(sqlite.Options{})
	return d
}

func (d *Database) open(o sqlite.Options) {
	d.T.Helper()
	db, err := sqlite.Open(d.T.Context(), d.Path, o)
	d.Must(err)
	d.DB = db
	d.T.Cleanup(func() { _ = db.Close() })
}

// URL returns the URL of the database for configurations.
func (d *Database) URL() string { return "sqlite:" + d.Path }

// Write creates or changes groups in one transaction. Each group has keywords and an ad.
func (d *Database) Write(advertisers, groups, keywords int, bid uint64) {
	d.T.Helper()
	ctx := d.T.Context()
	tx, err := d.DB.Begin(ctx)
	d.Must(err)
	defer tx.Rollback()
	for a := range advertisers {
		adv, err := tx.Advertiser(ctx, fmt.Sprint("advertiser ", a))
		d.Must(err)
		campaign, err := tx.Campaign(ctx, adv, "campaign", backend.CampaignPatch{Languages: backend.To(backend.LanguagesOf("en"))})
		d.Must(err)
		for g := range groups {
			group, err := tx.Group(ctx, campaign, fmt.Sprint("group ", g), backend.GroupPatch{Bid: backend.To(bid)})
			d.Must(err)
			for k := range keywords {
				text := fmt.Sprintf("word%d usb%d cable", k, g)
				d.Must(tx.Keyword(ctx, group, backend.KeywordPatch{Text: text, Words: text, Type: search.Broad}))
			}
			d.Must(tx.Ad(ctx, group, backend.AdPatch{Headlines: []string{"h"}, Descriptions: []string{"d"}, FinalURL: "https://a.example/"}))
		}
	}
	d.Must(tx.Commit(ctx))
}

// Must ends the test if err is not nil.
func (d *Database) Must(err error) {
	d.T.Helper()
	if err != nil {
		d.T.Fatal(err)
	}
}

// Reopen closes the database, calls `change` with the path of its file, and opens it again. No
// other process may have it open.
func (d *Database) Reopen(change func(path string)) {
	d.T.Helper()
	d.Must(d.DB.Close())
	change(d.Path)
	d.open(sqlite.Options{Create: true})
}

// Backup returns the content of the database's file. No other process may have it open.
func (d *Database) Backup() (copied []byte) {
	d.Reopen(func(path string) {
		var err error
		copied, err = os.ReadFile(path)
		d.Must(err)
	})
	return copied
}

// Restore replaces the database by a backup. No other process may have it open.
func (d *Database) Restore(copied []byte) {
	d.Reopen(func(path string) {
		for _, name := range []string{path, path + "-wal", path + "-shm"} {
			_ = os.Remove(name)
		}
		d.Must(os.WriteFile(path, copied, 0o600))
	})
}
