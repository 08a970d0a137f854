package sqlite

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	zs "zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"adshard/backend"
	"adshard/fault"
)

func opened(t testing.TB, path string) *Store {
	t.Helper()
	s, err := Open(t.Context(), path, Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// borrow returns the writing connection until the test is over.
func borrow(t testing.TB, s *Store) *conn {
	t.Helper()
	c, err := s.pool.take(t.Context(), true)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.pool.give(c, true) })
	return c
}

// Script runs SQL as another program would: without foreign keys.
func Script(t testing.TB, path, sql string) error {
	t.Helper()
	c, err := zs.OpenConn(path, zs.OpenReadWrite|zs.OpenCreate)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	return sqlitex.ExecuteScript(c, sql, nil)
}

// ByBackup copies a database that may be in use, as documented for operators.
func ByBackup(t testing.TB, from, to string) {
	t.Helper()
	c, err := connect(from, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.exec("VACUUM INTO ?", to); err != nil {
		t.Fatal(err)
	}
}

func TestOpenFaults(t *testing.T) {
	dir := t.TempDir()
	file := func(name string, content []byte) string {
		p := filepath.Join(dir, name)
		if err := os.WriteFile(p, content, 0o600); err != nil {
			t.Fatal(err)
		}
		return p
	}
	whole := filepath.Join(dir, "whole.db")
	s := opened(t, whole)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(whole)
	if err != nil {
		t.Fatal(err)
	}
	newer := file("newer.db", content)
	if err := Script(t, newer, "INSERT INTO goose_db_version (version_id, is_applied) VALUES (99, 1)"); err != nil {
		t.Fatal(err)
	}
	foreign := filepath.Join(dir, "foreign.db")
	if err := Script(t, foreign, "CREATE TABLE bookmark (url TEXT)"); err != nil {
		t.Fatal(err)
	}
	cut := file("cut.db", content[:len(content)/2])
	damaged := append([]byte(nil), content...)
	for i := 4096; i < len(damaged); i++ {
		damaged[i] = 0xAA
	}
	for _, c := range []struct {
		name, path string
		create     bool
		kind       fault.Kind
		says       string
	}{
		{"missing", filepath.Join(dir, "none.db"), false, fault.NotFound, "there is no database"},
		{"no folder", filepath.Join(dir, "no", "none.db"), true, fault.NotFound, "make it first"},
		{"a folder", dir, true, fault.Invalid, "is a folder"},
		{"no path", "", true, fault.Invalid, "name a file"},
		{"newer", newer, true, fault.Version, "use a newer program"},
		{"another program's", foreign, true, fault.Corrupt, "another program"},
		{"text", file("text.db", []byte(strings.Repeat("no database\n", 1000))), true, fault.Corrupt, "restore it from a copy"},
		{"cut", cut, false, fault.Corrupt, "restore it from a copy"},
		{"damaged", file("damaged.db", damaged), false, fault.Corrupt, "restore it from a copy"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := Open(t.Context(), c.path, Options{Create: c.create})
			if err == nil {
				// Damage deeper in the file is found when it is read.
				_, err = s.Counts(t.Context())
				s.Close()
			}
			if !fault.Is(err, c.kind) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v: %v; want %v: %s", fault.KindOf(err), err, c.kind, c.says)
			}
		})
	}
	if _, err := os.Stat(filepath.Join(dir, "none.db")); err == nil {
		t.Error("opening a missing database made it")
	}
}

// TestFullDisk limits the file as a full disk would: the transaction fails as a whole, committed data stays, and when
// there is room again, writing continues.
func TestFullDisk(t *testing.T) {
	ctx := t.Context()
	s := opened(t, filepath.Join(t.TempDir(), "ads.db"))
	pages := func(sql string) {
		c, err := s.pool.take(ctx, true)
		if err == nil {
			err = c.exec(sql)
		}
		if err == nil {
			err = s.pool.give(c, true)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := write(ctx, s, 0, 10); err != nil {
		t.Fatal(err)
	}
	pages("PRAGMA max_page_count = 40")
	if err := write(ctx, s, 1, 100_000); !fault.Is(err, fault.NoSpace) || !strings.Contains(err.Error(), "make room") {
		t.Errorf("full disk: %v", err)
	}
	pages("PRAGMA max_page_count = 1000000")
	if err := write(ctx, s, 2, 10); err != nil {
		t.Error(err)
	}
	n, err := s.Counts(ctx)
	if want := (backend.Counts{Advertisers: 1, Campaigns: 1, Groups: 2, Keywords: 20}); err != nil || n != want {
		t.Errorf("%+v, %v", n, err)
	}
}

// write adds a group with keywords, and returns the error of the first step that failed.
func write(ctx context.Context, s *Store, group, keywords int) error {
	tx, err := s.Begin(ctx)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	a, err := tx.Advertiser(ctx, "A")
	if err != nil {
		return err
	}
	c, err := tx.Campaign(ctx, a, "C", backend.CampaignPatch{})
	if err != nil {
		return err
	}
	g, err := tx.Group(ctx, c, fmt.Sprint("G", group), backend.GroupPatch{})
	if err != nil {
		return err
	}
	for i := range keywords {
		words := fmt.Sprint("word ", i)
		if err := tx.Keyword(ctx, g, backend.KeywordPatch{Text: words, Words: words}); err != nil {
			return err
		}
	}
	return tx.Commit(ctx)
}

func TestReadOnly(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root may write everywhere")
	}
	path := filepath.Join(t.TempDir(), "ads.db")
	opened(t, path).Close()
	if err := os.Chmod(path, 0o400); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), path, Options{}); !fault.Is(err, fault.Unavailable) {
		t.Error(err)
	}
}

// TestManyOpen lets several programs create and migrate one file at once.
func TestManyOpen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ads.db")
	errs := make(chan error)
	const openers = 6
	for range openers {
		go func() {
			s, err := Open(context.Background(), path, Options{Create: true})
			if err == nil {
				err = s.Close()
			}
			errs <- err
		}()
	}
	for range openers {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
}

// TestNames opens files whose names have a special meaning in a URI or for SQLite.
func TestNames(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for _, name := range []string{"a b.db", "what?mode=memory", "50%41.db", "#1", ":memory:", "file:x.db", "žluťoučký.db", "a&b=c;d"} {
		s, err := Open(t.Context(), name, Options{Create: true})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
		if s, err = Open(t.Context(), name, Options{}); err != nil {
			t.Errorf("%s again: %v", name, err)
		} else {
			s.Close()
		}
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 8 {
		t.Errorf("%v, %v", files, err)
	}
}
