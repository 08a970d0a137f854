package rocks_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/linxGnu/grocksdb"

	"adshard/barrels/kv"
	"adshard/barrels/rocks"
	"adshard/fault"
)

// withFamilies makes a database with only some families, as when the process was killed during
// its creation.
func withFamilies(t *testing.T, dir string, names []string) {
	t.Helper()
	o := grocksdb.NewDefaultOptions()
	defer o.Destroy()
	o.SetCreateIfMissing(true)
	o.SetCreateIfMissingColumnFamilies(true)
	options := make([]*grocksdb.Options, len(names))
	for i := range options {
		options[i] = o
	}
	db, handles, err := grocksdb.OpenDbColumnFamilies(o, dir, names, options)
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range handles {
		h.Destroy()
	}
	db.Close()
}

// TestKilledWhileFamiliesAreMade: RocksDB makes one family after another. A database whose
// creation was interrupted is still empty and is completed.
func TestKilledWhileFamiliesAreMade(t *testing.T) {
	all := rocks.Names()
	for n := 1; n <= len(all); n++ {
		dir := t.TempDir()
		withFamilies(t, dir, all[:n])
		db, err := rocks.Open(dir, rocks.Options{})
		if err != nil {
			t.Errorf("of %v: %v", all[:n], err)
			continue
		}
		if err := db.Write(momentBatch(1, 1)); err != nil {
			t.Error(err)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestALogForFamiliesThatAreNotThere: RocksDB ignores records of families that the manifest
// does not name. The log of a later moment than a manifest that lacks some of them would be
// replayed only in part, but with the whole chain.
func TestALogForFamiliesThatAreNotThere(t *testing.T) {
	later := filepath.Join(t.TempDir(), "later")
	db, err := rocks.Open(later, rocks.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for n := range uint64(5) {
		if err := db.Write(momentBatch(1, n+1)); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.(kv.Checkpointer).Checkpoint(filepath.Join(t.TempDir(), "flushes")); err != nil {
		t.Fatal(err)
	}
	if err := db.Write(momentBatch(1, 6)); err != nil {
		t.Fatal(err)
	}
	files := copyFiles(t, later)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	for n := 1; n < len(rocks.Names()); n++ {
		dir := t.TempDir()
		withFamilies(t, dir, rocks.Names()[:n])
		for name, content := range files {
			if filepath.Ext(name) == ".log" {
				if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
					t.Fatal(err)
				}
			}
		}
		db, err := rocks.Open(dir, rocks.Options{})
		if err == nil {
			if got := contents(t, db); len(got) > 0 {
				t.Errorf("with %v it opens, and has %d entries, position %q", rocks.Names()[:n], len(got), got[kv.Meta.String()+string(kv.MetaPosition)])
			}
			if err := db.Close(); err != nil {
				t.Error(err)
			}
		} else if k := fault.KindOf(err); k != fault.Corrupt && k != fault.Version {
			t.Errorf("with %v: %v of kind %v", rocks.Names()[:n], err, k)
		}
	}
}

// TestFilesOfOthers: a file beside the database's files, such as the log of a service, is not
// taken for a log of the database, and stays when the database is made anew.
func TestFilesOfOthers(t *testing.T) {
	dir := t.TempDir()
	others := []string{"slave.log", "notes.sst.log", "LOCKED.txt", "x000001.log"}
	for _, name := range others {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("text"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		db, err := rocks.Open(dir, rocks.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if db.Unverified() {
			t.Error("a database that was closed is unverified")
		}
		if err := db.Write(momentBatch(1, 1)); err != nil {
			t.Fatal(err)
		}
		if err := db.(kv.Recreator).Recreate(); err != nil {
			t.Fatal(err)
		}
		if n := len(contents(t, db)); n > 0 {
			t.Errorf("it has %d entries", n)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range others {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
}
