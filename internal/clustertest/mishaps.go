package clustertest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"time"

	"adshard/internal/node/database"
)

// KilledMigration copies a database into a new file of a directory and kills the copy after some time. The result
// must either be refused or complete; a refused one is removed and copied again. Nothing else may change the database
// meanwhile.
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
		checked := Adshard(ctx, "db", "check", "--db", to)
		copied, opened := contents(ctx, to)
		switch {
		case checked == nil && opened == nil:
			return compareContents(ctx, from, copied)
		case checked == nil:
			return fmt.Errorf("a migration that was killed after %v: db check says nothing, but opening fails: %w", after, opened)
		case opened == nil:
			return fmt.Errorf("a migration that was killed after %v can be opened, though: %w", after, checked)
		}
	}
	removeDatabase(path)
	if err := Adshard(ctx, "db", "migrate", "--from", from, "--to", to); err != nil {
		return err
	}
	copied, err := contents(ctx, to)
	if err != nil {
		return err
	}
	return compareContents(ctx, from, copied)
}

// removeDatabase removes a SQLite database.
func removeDatabase(path string) {
	for _, suffix := range []string{"", "-wal", "-shm"} {
		_ = os.Remove(path + suffix)
	}
}

// contents counts the rows of a database by their content without ids or clocks, which differ between copies.
func contents(ctx context.Context, url string) (map[string]int, error) {
	store, err := database.Open(ctx, url, false)
	if err != nil {
		return nil, err
	}
	defer store.Close()
	snapshot, err := store.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	defer snapshot.Close()
	out := map[string]int{}
	for item, err := range snapshot.All(ctx) {
		if err != nil {
			return nil, err
		}
		out["ad group "+item.Group.Name]++
		for _, k := range item.Keywords {
			out[fmt.Sprint("keyword ", k.Text, k.Type)]++
		}
		for _, n := range item.Negatives {
			out[fmt.Sprint("negative ", n.Text, n.Type)]++
		}
		for _, a := range item.Ads {
			out[fmt.Sprint("ad ", a.Headlines, a.FinalURL)]++
		}
	}
	return out, nil
}

// compareContents returns an error if a copy of a database lacks some of its content.
func compareContents(ctx context.Context, from string, copied map[string]int) error {
	want, err := contents(ctx, from)
	if err != nil {
		return err
	}
	if !maps.Equal(want, copied) {
		return fmt.Errorf("a copy that passes for whole has %d kinds of rows of %d", len(copied), len(want))
	}
	return nil
}

// OutputsOntoData runs commands whose output would replace a database or one of its files. Each command must fail,
// and the database must stay unchanged.
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
	rows := filepath.Join(dir, "rows.jsonl")
	if err := os.WriteFile(rows, []byte("{}\n"), 0o600); err != nil {
		return err
	}
	defer os.Remove(rows)
	for _, victim := range []string{path, link, path + "-wal", path + "-shm", path + "-journal", path + "-events", path + "-events-wal"} {
		for _, args := range [][]string{
			{"lexicon", "build", "--out", victim},
			{"backup", "--db", db, "--out", victim},
			{"import", "--db", db, "--dry-run", "--force", "--rejects", victim, rows},
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
