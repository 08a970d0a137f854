package spend_test

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"adshard/backend/pgtest"
	"adshard/backend/postgres"
	"adshard/internal/node/database"
	"adshard/internal/node/spend"
)

// TestRole: on PostgreSQL the role for balancers can read what campaigns have spent, whichever is made first, the roles or the tables of
// events; without tables nothing is shown, and none are made.
func TestRole(t *testing.T) {
	if testing.Short() {
		t.Skip("short: starts a server")
	}
	server, err := pgtest.New("fsync=off", "full_page_writes=off")
	if err == nil {
		t.Cleanup(func() { server.Remove() })
		err = server.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	d, list := two(t)
	now := time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)
	do := func(name, sql string) {
		t.Helper()
		d.Must(server.Do(t.Context(), name, sql))
	}
	shown := func(name string) int {
		r := &spend.Reader{URL: strings.Replace(server.URL(name), "user=postgres", "user=balancer", 1), Now: func() time.Time { return now },
			Log: slog.New(slog.NewTextHandler(t.Output(), nil))}
		defer r.Close()
		return len(r.Today(t.Context(), snapshot(t, d), list))
	}
	for _, name := range []string{"roles_first", "events_first"} {
		do("postgres", "CREATE DATABASE "+name)
		owner, err := postgres.Open(t.Context(), server.URL(name), postgres.Options{Create: true})
		d.Must(err)
		d.Must(owner.Close())
	}
	do("roles_first", postgres.Roles)
	do("postgres", "CREATE ROLE balancer LOGIN; GRANT adshard_serve TO balancer; CREATE ROLE collector LOGIN; GRANT adshard_collect TO collector")
	for _, name := range []string{"roles_first", "events_first"} {
		if got := shown(name); got != 0 {
			t.Errorf("%s: %d without tables", name, got)
		}
		do("postgres", "GRANT CREATE ON DATABASE "+name+" TO collector")
		s, err := database.OpenEvents(t.Context(), strings.Replace(server.URL(name), "user=postgres", "user=collector", 1))
		d.Must(err)
		click(t, s, 1, 1, "2026-11-24", 100)
		d.Must(s.Close())
		if name == "events_first" {
			do(name, "REVOKE ALL ON SCHEMA adshard_events FROM adshard_serve")
			if got := shown(name); got != 0 {
				t.Errorf("%d without rights", got)
			}
			do(name, postgres.Roles)
		}
		if got := shown(name); got != len(list) {
			t.Errorf("%s: %d, want %d", name, got, len(list))
		}
	}
}
