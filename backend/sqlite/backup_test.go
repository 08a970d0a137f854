package sqlite_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"adshard/backend"
	"adshard/backend/backendtest"
	"adshard/backend/sqlite"
	"adshard/fault"
	"adshard/search"
)

// backedUp returns a database of some groups with a backup.
func backedUp(t *testing.T) (path, dir string, m *sqlite.Manifest) {
	t.Helper()
	folder := t.TempDir()
	path, dir = filepath.Join(folder, "ads.db"), filepath.Join(folder, "backup")
	s := openAt(t, path)
	backendtest.Fill(t, s, 200)
	closeStore(t, s)
	m, err := sqlite.Backup(t.Context(), path, dir, sqlite.Options{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return path, dir, m
}

func openAt(t testing.TB, path string) *sqlite.Store {
	t.Helper()
	s, err := sqlite.Open(t.Context(), path, sqlite.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func closeStore(t testing.TB, s backend.Store) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// addKeyword adds a keyword to a database.
func addKeyword(ctx context.Context, s backend.Store, words string) error {
	tx, err := s.Begin(ctx)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	a, err := tx.Advertiser(ctx, "later")
	if err != nil {
		return err
	}
	c, err := tx.Campaign(ctx, a, "C", backend.CampaignPatch{})
	if err != nil {
		return err
	}
	g, err := tx.Group(ctx, c, "G", backend.GroupPatch{})
	if err != nil {
		return err
	}
	if err := tx.Keyword(ctx, g, backend.KeywordPatch{Text: words, Words: words, Type: search.Broad}); err != nil {
		return err
	}
	return tx.Commit(ctx)
}

// TestBackupWhileItIsWritten: a backup made while a program writes has the keywords of the database at the position
// that it names, without damage, and can be restored elsewhere.
func TestBackupWhileItIsWritten(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "ads.db")
	s := openAt(t, path)
	defer s.Close()
	backendtest.Fill(t, s, 500)
	filled, err := s.Newest(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	report, err := s.Check(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	keywords := map[uint64]uint64{filled.Clock: uint64(report.Counts.Keywords)} // by clock
	ctx, cancel := context.WithCancel(t.Context())
	var work sync.WaitGroup
	work.Go(func() {
		for i := 0; ctx.Err() == nil; i++ {
			if err := addKeyword(ctx, s, strings.Repeat("x", i%50+1)); err != nil && ctx.Err() == nil {
				t.Error(err)
				return
			}
			at, err := s.Newest(t.Context())
			if err != nil {
				t.Error(err)
				return
			}
			keywords[at.Clock] = keywords[filled.Clock] + uint64(min(i+1, 50))
		}
	})
	var made []*sqlite.Manifest
	for _, name := range []string{"first", "second"} {
		m, err := sqlite.Backup(t.Context(), path, filepath.Join(folder, name), sqlite.Options{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		at, err := s.At(t.Context(), m.Clock)
		if err != nil || at.Mark != m.Mark {
			t.Errorf("the backup is at %v, the database was at %v then (%v)", m, at, err)
		}
		r, err := sqlite.Restore(t.Context(), filepath.Join(folder, name), filepath.Join(folder, name+".db"), false, sqlite.Options{}, nil)
		if err != nil || r.Kept != "" {
			t.Fatal(r, err)
		}
		restored := openAt(t, filepath.Join(folder, name+".db"))
		report, err := restored.Check(t.Context(), nil)
		if err != nil || len(report.Damage) > 0 || report.Counts != m.Counts {
			t.Errorf("restored: %+v, %v; the backup has %+v", report, err, m.Counts)
		}
		closeStore(t, restored)
		made = append(made, m)
	}
	cancel()
	work.Wait()
	for _, m := range made {
		if want, ok := keywords[m.Clock]; !ok || uint64(m.Counts.Keywords) != want {
			t.Errorf("%v has %d keywords, the database had %d then (%v)", m, m.Counts.Keywords, want, ok)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(folder, ".*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// TestRestore: a running program's database is replaced by a backup, which the program then uses. The previous
// database is kept, with what was written after the backup.
func TestRestore(t *testing.T) {
	path, dir, m := backedUp(t)
	s := openAt(t, path)
	defer s.Close()
	if err := addKeyword(t.Context(), s, "after"); err != nil {
		t.Fatal(err)
	}
	_, err := sqlite.Restore(t.Context(), dir, path, false, sqlite.Options{}, nil)
	if !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), "--replace") {
		t.Errorf("without replace: %v", err)
	}
	r, err := sqlite.Restore(t.Context(), dir, path, true, sqlite.Options{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	now, err := s.Newest(t.Context())
	for fault.Is(err, fault.Unavailable) {
		now, err = s.Newest(t.Context())
	}
	if err != nil || now != (backend.Position{Clock: m.Clock, Mark: m.Mark}) {
		t.Errorf("the program that runs sees %v (%v), the backup is at %v", now, err, m)
	}
	if err := addKeyword(t.Context(), s, "after the restore"); err != nil {
		t.Error(err)
	}
	kept := openAt(t, r.Kept)
	defer kept.Close()
	if was, err := kept.Newest(t.Context()); err != nil || was.Clock <= m.Clock {
		t.Errorf("the database before is at %v (%v)", was, err)
	}
}

// TestRestoreRefuses: a backup that is incomplete, damaged or of another database changes nothing.
func TestRestoreRefuses(t *testing.T) {
	if testing.Short() {
		t.Skip("short: it copies and reads many files")
	}
	for name, c := range map[string]struct {
		spoil func(t *testing.T, path, dir string) error
		kind  fault.Kind
	}{
		"a flipped bit": {func(_ *testing.T, _, dir string) error { return flipInMiddle(filepath.Join(dir, "ads.db")) }, fault.Corrupt},
		"a cut file":    {func(_ *testing.T, _, dir string) error { return os.Truncate(filepath.Join(dir, "ads.db"), 4096) }, fault.Corrupt},
		"another manifest": {func(t *testing.T, _, dir string) error {
			return edit(filepath.Join(dir, "manifest.json"), `"clock": `, `"clock": 1`)
		}, fault.Corrupt},
		"a newer format": {func(t *testing.T, _, dir string) error {
			return edit(filepath.Join(dir, "manifest.json"), `"format": 1`, `"format": 2`)
		}, fault.Version},
		"no JSON":     {func(_ *testing.T, _, dir string) error { return os.Truncate(filepath.Join(dir, "manifest.json"), 10) }, fault.Corrupt},
		"no manifest": {func(_ *testing.T, _, dir string) error { return os.Remove(filepath.Join(dir, "manifest.json")) }, fault.NotFound},
		"no file":     {func(_ *testing.T, _, dir string) error { return os.Remove(filepath.Join(dir, "ads.db")) }, fault.Unavailable},
		"another database": {func(t *testing.T, path, _ string) error {
			err := errors.Join(os.Remove(path))
			closeStore(t, openAt(t, path))
			return err
		}, fault.Conflict},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path, dir, _ := backedUp(t)
			if err := c.spoil(t, path, dir); err != nil {
				t.Fatal(err)
			}
			before, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := sqlite.Restore(t.Context(), dir, path, true, sqlite.Options{}, nil); !fault.Is(err, c.kind) {
				t.Errorf("%v of kind %v, want %v", err, fault.KindOf(err), c.kind)
			}
			after, err := os.ReadFile(path)
			if err != nil || string(after) != string(before) {
				t.Errorf("the database has changed (%v)", err)
			}
			if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), "*.re*")); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

// TestBackupRefuses: a backup overwrites nothing, and a damaged database is not backed up.
func TestBackupRefuses(t *testing.T) {
	path, dir, _ := backedUp(t)
	if _, err := sqlite.Backup(t.Context(), path, dir, sqlite.Options{}, nil); !fault.Is(err, fault.Conflict) {
		t.Errorf("over a backup: %v", err)
	}
	if _, err := sqlite.Backup(t.Context(), path+".none", dir+"2", sqlite.Options{}, nil); !fault.Is(err, fault.NotFound) {
		t.Errorf("of nothing: %v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := sqlite.Backup(ended, path, dir+"2", sqlite.Options{}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
	if err := sqlite.Script(t, path, "UPDATE ad_group SET sum = sum + 1 WHERE id = 7"); err != nil {
		t.Fatal(err)
	}
	_, err := sqlite.Backup(t.Context(), path, dir+"2", sqlite.Options{}, nil)
	if !fault.Is(err, fault.Corrupt) || !strings.Contains(err.Error(), "ad group 7") {
		t.Errorf("of a damaged database: %v", err)
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), "*2")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// flipInMiddle flips one bit.
func flipInMiddle(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	text[len(text)/2] ^= 1
	return os.WriteFile(path, text, 0o600)
}

func edit(path, from, to string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return os.WriteFile(path, []byte(strings.Replace(string(text), from, to, 1)), 0o600)
}
