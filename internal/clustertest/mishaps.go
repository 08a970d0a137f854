package clustertest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// KilledMigration copies a database into a new file of a directory and kills the copy after some time.
// What is there then must be refused, or be whole; what was refused is removed and copied again. Nothing may
// change the database meanwhile.
func KilledMigration(from, dir string, after time.Duration) error {
	ctx := context.Background()
	path := filepath.Join(dir, "migrated.db")
	to := "sqlite:" + path
	defer removeDatabase(path)
	killed, cancel := context.WithTimeout(ctx, after)
	err := Adshard(killed, "db", "migrate", "--from", from, "--to", to)
	inTime := killed.Err() == nil
	cancel()
	if inTime && err != nil {
		return err
	}
	if _, err := os.Stat(path); err == nil {
		checked, opened := Adshard(ctx, "db", "check", "--db", to), Adshard(ctx, "export", "--db", to, "--out", filepath.Join(dir, "part.jsonl"))
		_ = os.Remove(filepath.Join(dir, "part.jsonl"))
		switch {
		case checked == nil && opened == nil:
			return sameData(from, to, dir)
		case checked == nil || opened == nil:
			return fmt.Errorf("a migration that was killed after %v: db check says %w, export says %w", after, checked, opened)
		}
	}
	removeDatabase(path)
	if err := Adshard(ctx, "db", "migrate", "--from", from, "--to", to); err != nil {
		return err
	}
	return sameData(from, to, dir)
}

// removeDatabase removes a SQLite database.
func removeDatabase(path string) {
	for _, suffix := range []string{"", "-wal", "-shm"} {
		_ = os.Remove(path + suffix)
	}
}

// sameData compares what two databases have.
func sameData(a, b, dir string) error {
	var lines [2][][]byte
	for i, url := range []string{a, b} {
		out := filepath.Join(dir, fmt.Sprint("exported-", i, ".jsonl"))
		defer os.Remove(out)
		if err := Adshard(context.Background(), "export", "--db", url, "--out", out); err != nil {
			return err
		}
		text, err := os.ReadFile(out)
		if err != nil {
			return err
		}
		lines[i] = bytes.Split(text, []byte("\n"))
		slices.SortFunc(lines[i], bytes.Compare)
	}
	if !slices.EqualFunc(lines[0], lines[1], bytes.Equal) {
		return fmt.Errorf("%s passes for whole and has %d rows, %s has %d", b, len(lines[1]), a, len(lines[0]))
	}
	return nil
}

// OutputsOntoData runs commands whose outputs are named as a database or what belongs to it. Each must be
// refused; the database stays the file that it is.
func OutputsOntoData(path, dir string) error {
	db := "sqlite:" + path
	before, err := os.Stat(path)
	if err != nil {
		return err
	}
	link := filepath.Join(dir, "link-to-data")
	if err := os.Link(path, link); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	defer os.Remove(link)
	words := filepath.Join(dir, "rows.jsonl")
	if err := os.WriteFile(words, []byte("{}\n"), 0o600); err != nil {
		return err
	}
	defer os.Remove(words)
	for _, victim := range []string{path, link, path + "-wal", path + "-shm", path + "-journal", path + "-events", path + "-events-wal"} {
		for _, args := range [][]string{
			{"lexicon", "build", "--out", victim},
			{"export", "--db", db, "--out", victim},
			{"backup", "--db", db, "--out", victim},
			{"import", "--db", db, "--dry-run", "--force", "--rejects", victim, words},
			{"cert", "ca", "--dir", victim},
		} {
			if err := Adshard(context.Background(), args...); err == nil {
				return fmt.Errorf("adshard %q wrote onto data", args)
			}
		}
	}
	after, err := os.Stat(path)
	if err != nil {
		return err
	}
	if !os.SameFile(before, after) || after.Size() < before.Size() || after.Mode() != before.Mode() {
		return fmt.Errorf("%s was replaced, cut or given another mode by an output", path)
	}
	return nil
}
