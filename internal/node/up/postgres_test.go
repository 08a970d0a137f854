package up

import (
	"errors"
	"net/http"
	"testing"
	"time"

	"adshard/backend/pgtest"
	"adshard/backend/postgres"
)

// TestUpOnPostgreSQL runs a cluster on a database of PostgreSQL: budgets' marks and
// imports are followed; while the server is down queries are answered in
// full, and when it is back changes are followed again.
func TestUpOnPostgreSQL(t *testing.T) {
	ctx := t.Context()
	server, err := pgtest.New()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Remove() })
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	db, err := postgres.Open(ctx, server.URL("postgres"), postgres.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	write := func(groups int) {
		t.Helper()
		if err := writeAds(ctx, db, groups); err != nil {
			t.Fatal(err)
		}
	}
	write(20)
	c := startUp(t, upConfig(t, server.URL("postgres")))
	// The keyword of advertiser N, who pays the more the higher N is, has the id N.
	follows := func(best, matched uint64) {
		t.Helper()
		begun := time.Now()
		for a := c.search(t, "usb cable"); a.Matched != matched || a.Ads[0].Keyword != best; a = c.search(t, "usb cable") {
			if time.Since(begun) > patience {
				t.Fatalf("%+v instead of %d matches with keyword %d as the best", a, matched, best)
			}
			time.Sleep(5 * time.Millisecond)
		}
	}
	follows(20, 20)
	budget(t, c, 20, `{"exhausted":true}`, http.StatusOK)
	follows(19, 20)
	write(25)
	follows(25, 25)

	if err := server.Kill(); err != nil {
		t.Fatal(err)
	}
	if a := c.search(t, "usb cable"); a.Matched != 25 || !a.Coverage.Complete {
		t.Errorf("without the database: %+v", a)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	write(30)
	follows(30, 30)
	// The server's last start is younger than the cluster, whose end looks for what is left.
	if err := errors.Join(c.stop(), db.Close(), server.Remove()); err != nil {
		t.Error(err)
	}
}
