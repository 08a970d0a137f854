package faults

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"adshard/backend"
	"adshard/backend/pgtest"
	"adshard/internal/clustertest"
	nodedb "adshard/internal/node/database"
)

// stock has the databases with which schedules begin, made only once: the golden set of targeting, and another one.
type stock struct {
	dir       string
	network   *network
	server    *pgtest.Server
	questions []clustertest.Question
}

// database is the source of truth of one cluster.
type database struct {
	url    string // for the parts of the cluster
	store  backend.Store
	path   string         // path of the SQLite file
	server *pgtest.Server // the PostgreSQL server
	name   string         // name in the server
}

func newStock(t *testing.T, n *network) *stock {
	t.Helper()
	s := &stock{dir: t.TempDir(), network: n}
	store := s.open(t, "sqlite:"+s.file("golden"))
	s.questions = clustertest.ImportTargeting(t, store)
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	other := s.open(t, "sqlite:"+s.file("other"))
	defer other.Close()
	if _, err := clustertest.NewChanger(t.Context(), other, false); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *stock) file(name string) string { return filepath.Join(s.dir, name+".db") }

func (s *stock) open(t *testing.T, url string) backend.Store {
	t.Helper()
	store, err := nodedb.Open(t.Context(), url, true)
	if err != nil {
		t.Fatal(err)
	}
	return store
}

// databaseHost is the host of PostgreSQL. The parts connect by TCP. The tests' own changes use the Unix socket, so
// that they continue, and are judged, while parts are cut off from the database.
const databaseHost = "database"

// url returns the URL of a PostgreSQL database for parts.
func (s *stock) url(name string) string {
	return "postgres://postgres@" + s.network.hosts[databaseHost] + "/" + name + "?sslmode=disable"
}

// start starts PostgreSQL with its databases, if it does not run yet.
func (s *stock) start(t *testing.T) {
	t.Helper()
	if s.server != nil {
		return
	}
	host, err := s.network.host(databaseHost)
	if err != nil {
		t.Fatal(err)
	}
	server, err := pgtest.New("shared_buffers=64MB", "listen_addresses="+host)
	if err != nil {
		t.Fatal(err)
	}
	server.Enter = func() error { return s.network.stay(databaseHost) }
	t.Cleanup(func() {
		if err := server.Remove(); err != nil {
			t.Error(err)
		}
	})
	if err := server.File("pg_hba.conf", []byte("local all all trust\nhost all all samenet trust\n")); err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"golden", "other"} {
		if err := server.Do(t.Context(), "postgres", "CREATE DATABASE "+name); err != nil {
			t.Fatal(err)
		}
		store := s.open(t, server.URL(name))
		if name == "golden" {
			clustertest.ImportTargeting(t, store)
		} else if _, err := clustertest.NewChanger(t.Context(), store, false); err != nil {
			t.Fatal(err)
		}
		if err := store.Close(); err != nil {
			t.Fatal(err)
		}
	}
	s.server = server
}

// database makes a copy of the golden database. suite is the test of the whole run, t that of the schedule.
func (s *stock) database(suite, t *testing.T, kind string, seed uint64) *database {
	t.Helper()
	d := &database{}
	if kind == "sqlite" {
		d.path = filepath.Join(t.TempDir(), "ads.db")
		d.url = "sqlite:" + d.path
		copyFile(t, s.file("golden"), d.path)
	} else {
		s.start(suite)
		d.server, d.name = s.server, fmt.Sprint("seed", seed)
		d.url = s.url(d.name)
		if err := d.server.Do(t.Context(), "postgres", "CREATE DATABASE "+d.name+" TEMPLATE golden"); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := d.server.Do(context.Background(), "postgres", "DROP DATABASE "+d.name+" WITH (FORCE)"); err != nil {
				t.Error(err)
			}
		})
	}
	own := d.url
	if d.server != nil {
		own = d.server.URL(d.name)
	}
	d.store = s.open(t, own)
	t.Cleanup(func() { _ = d.store.Close() })
	return d
}

// other returns a valid database that belongs to no cluster.
func (s *stock) other(d *database) string {
	if d.server != nil {
		return s.url("other")
	}
	return "sqlite:" + s.file("other")
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	b, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, b, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}
