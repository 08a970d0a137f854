package postgres

import (
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"adshard/fault"
)

// TestReplicaWithoutTables: a replica that has not yet replayed the creation of the tables is asked again later, not
// reported as damaged.
func TestReplicaWithoutTables(t *testing.T) {
	s := &Store{name: "test"}
	for code, kind := range map[string]fault.Kind{"42P01": fault.Unavailable, "3F000": fault.Unavailable, "42883": fault.Unavailable, "XX001": fault.Corrupt} {
		err := s.lacking(failed(t.Context(), "snapshot", s.name, &pgconn.PgError{Code: code}))
		if !fault.Is(err, kind) {
			t.Errorf("%s: %v", code, err)
		}
	}
}
