package collector_test

import (
	"strings"
	"testing"
	"time"

	"adshard/backend/pgtest"
	"adshard/backend/postgres"
	"adshard/events/store"
	"adshard/events/token"
	"adshard/internal/node/database"
)

// dumped returns an event from before a dump.
func dumped() []store.Event {
	at := time.Date(2026, 11, 24, 0, 0, 0, 0, time.UTC)
	return []store.Event{{ID: token.From(at), Kind: store.Click, Day: store.DayOf("2026-11-24"), Token: token.Token{Served: at, Advertiser: 1, Campaign: 1, Price: 500}}}
}

// TestRestoredDumpHasEvents: a dump that is restored beside the database, or on another server as docs/operations/backup.md
// describes, contains what was spent and counted, for the same roles, and belongs to the same database.
func TestRestoredDumpHasEvents(t *testing.T) {
	server, db := onPostgreSQL(t, 1)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	id, err := db.ID(t.Context())
	must(err)
	must(server.Do(t.Context(), "postgres", postgres.Roles))
	must(server.Do(t.Context(), "postgres", "CREATE ROLE collector LOGIN; GRANT adshard_collect TO collector; GRANT CREATE ON DATABASE postgres TO collector"))
	as := func(s *pgtest.Server, name string) string {
		return strings.Replace(s.URL(name), "user=postgres", "user=collector", 1)
	}
	counted, err := database.OpenEvents(t.Context(), as(server, "postgres"))
	must(err)
	must(counted.Claim(t.Context(), id))
	_, err = counted.Add(t.Context(), dumped())
	must(err)
	must(counted.Close())

	must(server.Copy(t.Context(), "postgres", "restored"))
	checkRestored(t, id, as(server, "restored"))

	other, err := pgtest.New("fsync=off", "full_page_writes=off")
	must(err)
	t.Cleanup(func() { other.Remove() })
	must(other.Start())
	must(other.Run("pg_dump", "--schema=adshard*", "-Fc", "-f", "monday.dump", server.URL("postgres")))
	must(other.Run("pg_dumpall", "--roles-only", "-f", "roles.sql", "-d", server.URL("postgres")))
	must(other.Run("psql", "-X", "-q", "-f", "roles.sql", "-d", other.URL("postgres"))) // the superuser exists already
	must(other.Run("createdb", "-T", "template0", "--maintenance-db", other.URL("postgres"), "ads"))
	must(other.Run("pg_restore", "--exit-on-error", "-d", other.URL("ads"), "monday.dump"))
	checkRestored(t, id, as(other, "ads"))
}

// checkRestored checks a restored database with the collector's login.
func checkRestored(t *testing.T, id, url string) {
	t.Helper()
	s, err := database.OpenEvents(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Claim(t.Context(), id); err != nil {
		t.Errorf("the events are another database's: %v", err)
	}
	again, err := s.Add(t.Context(), dumped())
	if sum := total(t, s); err != nil || len(again) != 1 || again[0] == store.Counted || sum.Clicks != 1 || sum.Spend != 500 {
		t.Errorf("the earlier event is %v, %v; all come to %+v", again, err, sum)
	}
	db, err := database.Open(t.Context(), url, false)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if is, err := db.ID(t.Context()); is != id || err != nil {
		t.Errorf("the database is %q, %v, was %q", is, err, id)
	}
	if err := db.SaveControl(t.Context(), "balancer/pacing", nil); err != nil {
		t.Error(err)
	}
	if db.SaveControl(t.Context(), "balancer/epoch", nil) == nil {
		t.Error("a collector may write the epoch")
	}
}
