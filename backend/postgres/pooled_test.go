package postgres_test

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"adshard/backend/postgres"
	"adshard/fault"
)

// TestPooledCommitsAreDurable: behind such a pooler a session cannot make its commits durable, so a database whose commits are not
// durable is refused.
func TestPooledCommitsAreDurable(t *testing.T) {
	p := newPlace(t).(place)
	do(t, "postgres", "ALTER DATABASE "+p.name+" SET synchronous_commit = off")
	t.Cleanup(func() { do(t, "postgres", "ALTER DATABASE "+p.name+" RESET synchronous_commit") })
	if s, err := postgres.Open(t.Context(), withMode(shared.URL(p.name), "cache_describe"), postgres.Options{}); !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), "synchronous_commit") {
		t.Errorf("%v, %v", s, err)
	}
	open(t, p) // here each session makes its commits durable itself
}

// TestPoolersAreNamed: errors about prepared statements that a pooler has lost, or has already, name the pooler as the
// cause and say what to do.
func TestPoolersAreNamed(t *testing.T) {
	for _, code := range []string{"42P05", "26000"} {
		err := postgres.Failed(t.Context(), &pgconn.PgError{Code: code, Message: `prepared statement "stmtcache_1" already exists`})
		for _, want := range []string{"pool_mode", "default_query_exec_mode=cache_describe", "already exists"} {
			if !fault.Is(err, fault.Unavailable) || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v", code, err)
			}
		}
	}
}

// TestEncodings: a database that cannot store every text is refused however it is opened, with an error that says what to do, and is left
// unchanged.
func TestEncodings(t *testing.T) {
	for _, encoding := range []string{"LATIN1", "SQL_ASCII"} {
		name := newName()
		do(t, "postgres", "CREATE DATABASE "+name+" TEMPLATE template0 ENCODING "+encoding)
		for _, mode := range []string{"", "cache_describe"} {
			url := withMode(shared.URL(name), mode)
			_, opened := postgres.Open(t.Context(), url, postgres.Options{Create: true})
			_, _, probed := postgres.Probe(t.Context(), url, "")
			for _, err := range []error{opened, probed} {
				if !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), encoding) || !strings.Contains(err.Error(), "createdb") {
					t.Errorf("%s %s: %v", encoding, mode, err)
				}
			}
		}
		do(t, name, "DO $$ BEGIN IF to_regnamespace('adshard') IS NOT NULL THEN RAISE 'something was made'; END IF; END $$")
	}
}
