package postgres_test

import (
	"context"
	"fmt"
	"reflect"
	"testing"

	"adshard/events/store"
	"adshard/events/store/postgres"
	"adshard/events/store/storetest"
)

// trap makes the server end a connection after a given number of commands that create or change tables.
const trap = `CREATE SEQUENCE public.commands;
CREATE FUNCTION public.die() RETURNS event_trigger LANGUAGE plpgsql AS
  $$ BEGIN IF nextval('public.commands') > %d THEN PERFORM pg_terminate_backend(pg_backend_pid()); END IF; END $$;
CREATE EVENT TRIGGER die ON ddl_command_end EXECUTE FUNCTION public.die();`

// TestKilledWhileTablesAreMade ends the connection after each command that creates or updates the tables. It tests that
// everything is then as before, and that the next program makes what the killed one would have made.
func TestKilledWhileTablesAreMade(t *testing.T) {
	for name, opened := range map[string]func(context.Context, string) (*postgres.Store, error){"new": postgres.Open, "next format": postgres.OpenNext} {
		t.Run(name, func(t *testing.T) {
			for n := 0; ; n++ {
				url := database(t)
				do := func(sql string) {
					t.Helper()
					if err := server.Do(t.Context(), fmt.Sprint("events_", made.Load()), sql); err != nil {
						t.Fatal(err)
					}
				}
				want := storetest.Contents{Sums: []store.Sum{}, Marks: []store.Mark{}}
				if name != "new" {
					s := open(t, url)
					storetest.Full(t, s)
					want = storetest.ContentsOf(t, s)
				}
				do(fmt.Sprintf(trap, n))
				s, err := opened(t.Context(), url)
				if err == nil {
					s.Close()
					if n < 2 {
						t.Errorf("%d commands", n)
					}
					return
				}
				do("DROP EVENT TRIGGER die")
				r, err := postgres.OpenReader(t.Context(), url)
				if err == nil {
					r.Close()
				}
				if (name == "new") == (err == nil) {
					t.Errorf("after %d commands a reader says: %v", n, err)
				}
				again, err := opened(t.Context(), url)
				if err != nil {
					t.Fatal(err)
				}
				got := storetest.ContentsOf(t, again)
				if again.Close(); name == "new" {
					got.ID = ""
				}
				if !reflect.DeepEqual(got, want) {
					t.Errorf("after %d commands: %+v\nwant %+v", n, got, want)
				}
			}
		})
	}
}
