package postgres_test

import (
	"testing"

	"adshard/backend"
	"adshard/backend/postgres"
)

// TestServer: a promoted standby belongs to the same system and is on the next timeline.
func TestServer(t *testing.T) {
	primary := server(t, "fsync=off")
	schema, err := postgres.Open(t.Context(), primary.URL("postgres"), postgres.Options{Create: true})
	must(t, err)
	must(t, schema.Close())
	standby := standbyOf(t, primary) // with the schema
	s, err := postgres.Open(t.Context(), primary.URL("postgres", standby), postgres.Options{})
	must(t, err)
	defer s.Close()
	first, err := s.Server(t.Context())
	if must(t, err); first.System == "" || first.Timeline != 1 {
		t.Errorf("the primary is %+v", first)
	}
	must(t, primary.Kill())
	must(t, standby.Promote())
	var next backend.Server
	eventually(t, "at the promoted standby", func() bool {
		next, err = s.Server(t.Context())
		return err == nil
	})
	if next != (backend.Server{System: first.System, Timeline: 2}) {
		t.Errorf("the promoted standby is %+v, the primary was %+v", next, first)
	}
}
