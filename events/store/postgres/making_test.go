package postgres_test

import (
	"fmt"
	"slices"
	"testing"

	"adshard/events/store/postgres"
)

// trap has the server end a connection after so many commands that make or change tables.
const trap = `CREATE SEQUENCE public.commands;
CREATE FUNCTION public.die() RETURNS event_trigger LANGUAGE plpgsql AS
  $$ BEGIN IF nextval('public.commands') > %d THEN PERFORM pg_terminate_backend(pg_backend_pid()); END IF; END $$;
CREATE EVENT TRIGGER die ON ddl_command_end EXECUTE FUNCTION public.die();`

// TestKilledWhileTablesAreMade: after whichever command of making the tables, or of bringing those of an older format up to
// date, a connection ends, what is left is what was there before: readers refuse it, and the next program makes of it what the
// killed one would have made.
func TestKilledWhileTablesAreMade(t *testing.T) {
	for name, script := range map[string]string{"new": "SELECT", "format 1": format1} {
		t.Run(name, func(t *testing.T) {
			for n := 0; ; n++ {
				url := database(t)
				do := func(sql string) {
					t.Helper()
					if err := server.Do(t.Context(), fmt.Sprint("events_", made.Load()), sql); err != nil {
						t.Fatal(err)
					}
				}
				do(script)
				do(fmt.Sprintf(trap, n))
				s, err := postgres.Open(t.Context(), url)
				if err == nil {
					s.Close()
					if n < 3 {
						t.Errorf("%d commands", n)
					}
					return
				}
				do("DROP EVENT TRIGGER die")
				if r, err := postgres.OpenReader(t.Context(), url); err == nil {
					r.Close()
					t.Errorf("after %d commands a reader takes it for whole", n)
				}
				sums, err := open(t, url).Sums(t.Context(), 0)
				campaigns := []uint64{}
				for _, s := range sums {
					campaigns = append(campaigns, s.Campaign)
				}
				if want := []uint64{1, 2}; err != nil || (name == "format 1") != slices.Equal(campaigns, want) {
					t.Errorf("after %d commands: %v %v", n, sums, err)
				}
			}
		})
	}
}
