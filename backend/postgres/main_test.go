package postgres_test

import (
	"context"
	"flag"
	"fmt"
	"net/url"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"go.uber.org/goleak"

	"adshard/backend"
	"adshard/backend/backendtest"
	"adshard/backend/pgtest"
	"adshard/backend/postgres"
)

// childEnv names the database that a child process of a test writes to.
const childEnv = "ADSHARD_TEST_WRITE_TO"

// rekeyEnv names the database whose keys a child process rebuilds.
const rekeyEnv = "ADSHARD_TEST_REKEY"

// shared is the server of all tests that do not harm it.
var shared *pgtest.Server

const template = "template_adshard"

func TestMain(m *testing.M) {
	if url := os.Getenv(childEnv); url != "" {
		failing(child(url))
		os.Exit(0)
	}
	if url := os.Getenv(rekeyEnv); url != "" {
		failing(rekey(url))
		os.Exit(0)
	}
	var err error
	// Tests that kill a server start their own.
	shared, err = pgtest.New("fsync=off", "full_page_writes=off")
	failing(err)
	status := 1
	if err = shared.Start(); err == nil {
		if err = makeTemplate(); err == nil {
			fewer()
			status = m.Run()
		}
	}
	failing(shared.Remove())
	failing(err)
	if status == 0 {
		failing(goleak.Find())
	}
	os.Exit(status)
}

// fewer makes properties run fewer times than by default, since each run opens many connections.
func fewer() {
	flag.Parse()
	if checks := flag.Lookup("rapid.checks"); checks.Value.String() == checks.DefValue {
		failing(checks.Value.Set("25"))
	}
}

func failing(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// child writes until it is killed.
func child(url string) error {
	ctx := context.Background()
	s, err := postgres.Open(ctx, url, postgres.Options{})
	if err != nil {
		return err
	}
	return backendtest.WriteForever(ctx, s, os.Stdout)
}

// rekey rebuilds keys until it is killed.
func rekey(url string) error {
	return backendtest.Rekey(os.Stdout, func(step func()) (backend.Store, error) {
		var o postgres.Options
		o.Stepped(step)
		return postgres.Open(context.Background(), url, o)
	})
}

// makeTemplate creates the database that others are copies of.
func makeTemplate() error {
	ctx := context.Background()
	if err := shared.Do(ctx, "postgres", "CREATE DATABASE "+template); err != nil {
		return err
	}
	s, err := postgres.Open(ctx, shared.URL(template), postgres.Options{Create: true})
	if err != nil {
		return err
	}
	return s.Close()
}

// place is a database on the shared server.
type place struct {
	name  string
	tight bool   // transactions forget nearly everything at once
	mode  string // default_query_exec_mode of the URL, or "" for the default
}

var (
	made atomic.Uint64
	// free holds databases whose tests have ended.
	free = make(chan string, 1000)
)

// renew empties a database and gives it another id, which is much faster than creating one.
const renew = `SET session_replication_role = replica;
DELETE FROM adshard.keyword; DELETE FROM adshard.group_negative; DELETE FROM adshard.campaign_negative; DELETE FROM adshard.advertiser_negative; DELETE FROM adshard.ad;
DELETE FROM adshard.ad_group; DELETE FROM adshard.campaign; DELETE FROM adshard.advertiser; DELETE FROM adshard.change_log;
DELETE FROM adshard.control; DELETE FROM adshard.document_part; DELETE FROM adshard.document; DELETE FROM adshard.removed_phrase; DELETE FROM adshard.feed_reader; DELETE FROM adshard.compacted; DELETE FROM adshard.state;
INSERT INTO adshard.compacted DEFAULT VALUES;
SELECT setval(format('adshard.%I', sequencename), 1, false) FROM pg_sequences WHERE sequencename LIKE '%_id';
INSERT INTO adshard.state (database_id) VALUES (replace(gen_random_uuid()::text, '-', ''))`

func newPlace(t testing.TB) backendtest.Place {
	t.Helper()
	p := place{mode: os.Getenv("EXEC_MODE_LONG")}
	select {
	case p.name = <-free:
	default:
		p.name = newName()
		do(t, "postgres", "CREATE DATABASE "+p.name+" TEMPLATE "+template)
	}
	do(t, p.name, renew)
	t.Cleanup(func() { free <- p.name })
	return p
}

func newName() string { return fmt.Sprint("place_", made.Add(1)) }

func do(t testing.TB, database, sql string) {
	t.Helper()
	if err := shared.Do(context.Background(), database, sql); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

func (p place) Open(t testing.TB, busy time.Duration) backend.Store {
	t.Helper()
	s, err := postgres.Open(t.Context(), withMode(shared.URL(p.name), p.mode), postgres.Options{BusyTimeout: busy})
	if err != nil {
		t.Fatal(err)
	}
	if p.tight {
		s.Tighten()
	}
	return s
}

// withMode returns a URL with which pgx runs statements in the given mode.
func withMode(text, mode string) string {
	u, err := url.Parse(text)
	if err != nil || mode == "" {
		return text
	}
	q := u.Query()
	q.Set("default_query_exec_mode", mode)
	u.RawQuery = q.Encode()
	return u.String()
}

func (p place) Copy(t testing.TB) backendtest.Place {
	t.Helper()
	copied := place{name: newName(), tight: p.tight, mode: p.mode}
	if err := shared.Copy(t.Context(), p.name, copied.name); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { free <- copied.name })
	return copied
}

func open(t testing.TB, p backendtest.Place) *postgres.Store {
	t.Helper()
	s := p.Open(t, backendtest.Patience)
	t.Cleanup(func() { s.Close() })
	return s.(*postgres.Store)
}

// session opens a connection as another program would.
func session(t testing.TB, p backendtest.Place) *pgx.Conn {
	t.Helper()
	c, err := pgx.Connect(t.Context(), shared.URL(p.(place).name))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close(context.Background()) })
	return c
}
