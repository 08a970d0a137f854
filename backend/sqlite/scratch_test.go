package sqlite

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"adshard/fault"
)

// TestScratch: a scratch copy has the committed data, even while a writer is at work. Writes to the copy stay in it,
// and it is deleted when it is closed.
func TestScratch(t *testing.T) {
	ctx := t.Context()
	tmp, path := t.TempDir(), filepath.Join(t.TempDir(), "ads.db")
	t.Setenv("TMPDIR", tmp)
	s, err := Open(ctx, path, Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	add := func(name string) func() error {
		tx, err := s.Begin(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tx.Advertiser(ctx, name); err != nil {
			t.Fatal(err)
		}
		return func() error { return tx.Commit(ctx) }
	}
	if err := add("committed")(); err != nil {
		t.Fatal(err)
	}
	commit := add("open")
	c, err := OpenScratch(ctx, path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if n, err := c.Counts(ctx); err != nil || n.Advertisers != 1 {
		t.Errorf("the copy has %+v, %v", n, err)
	}
	tx, err := c.Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Advertiser(ctx, "tried out"); err != nil {
		t.Fatal(err)
	}
	if err := tx.Commit(ctx); err != nil {
		t.Fatal(err)
	}
	if err := commit(); err != nil {
		t.Fatal(err)
	}
	if n, err := s.Counts(ctx); err != nil || n.Advertisers != 2 {
		t.Errorf("the database has %+v, %v", n, err)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(tmp); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// TestScratchOfWhatCannotBeCopied: the error names the database, not the copy, and no file is left behind.
func TestScratchOfWhatCannotBeCopied(t *testing.T) {
	tmp, dir := t.TempDir(), t.TempDir()
	t.Setenv("TMPDIR", tmp)
	good, newer, text := filepath.Join(dir, "good.db"), filepath.Join(dir, "newer.db"), filepath.Join(dir, "text.db")
	open := func(path string) *Store {
		s, err := Open(t.Context(), path, Options{Create: true})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	if err := open(good).Close(); err != nil {
		t.Fatal(err)
	}
	s := open(newer)
	if err := s.write(t.Context(), "test", func(c *conn) error {
		return c.exec("INSERT INTO goose_db_version (version_id, is_applied) VALUES (?, 1)", int64(schemaVersion+1))
	}); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(text, []byte(strings.Repeat("no database\n", 500)), 0o600); err != nil {
		t.Fatal(err)
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for _, c := range []struct {
		ctx  context.Context
		path string
		kind fault.Kind
	}{
		{t.Context(), newer, fault.Version}, {t.Context(), text, fault.Corrupt}, {t.Context(), dir, fault.Invalid},
		{t.Context(), filepath.Join(dir, "none", "x.db"), fault.NotFound}, {cancelled, good, fault.Cancelled},
	} {
		_, err := OpenScratch(c.ctx, c.path, Options{})
		if !fault.Is(err, c.kind) || c.kind != fault.Cancelled && !strings.Contains(err.Error(), c.path) {
			t.Errorf("%s: %v", c.path, err)
		}
	}
	if left, err := os.ReadDir(tmp); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
