package rocks_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"adshard/barrels/kv"
	"adshard/barrels/memory"
	"adshard/barrels/rocks"
	"adshard/fault"
)

// moments holds copies of a database's files, each taken at one instant while the database was
// open.
type moments []map[string][]byte

// momentBatches is the number of batches in a history during which moments are taken,
// momentSeeds the number of histories, momentMixtures the number of databases that are put
// together from each.
const momentBatches, momentSeeds, momentMixtures = 60, 2, 40

// momentBatch returns the n-th batch of a history. It puts and deletes some of a few keys of
// all families, and records in the meta data that it was the last batch.
func momentBatch(seed, n uint64) *kv.Batch {
	rng := rand.New(rand.NewPCG(seed, n))
	var b kv.Batch
	for range 1 + rng.IntN(6) {
		f := kv.Family(rng.IntN(int(kv.Meta)))
		key := kv.AppendKey(nil, uint64(rng.IntN(8)), uint64(rng.IntN(4)))
		if rng.IntN(4) == 0 {
			b.Delete(f, key)
			continue
		}
		value := make([]byte, rng.IntN(6000))
		for i := range value {
			value[i] = byte(rng.Uint32())
		}
		b.Put(f, key, fmt.Appendf(value, "%d", n))
	}
	if rng.IntN(20) == 0 {
		b.Clear(kv.Family(rng.IntN(int(kv.Meta))))
	}
	b.Put(kv.Meta, kv.MetaPosition, kv.AppendKey(nil, n))
	return &b
}

// takeMoments plays a history and copies the files between batches. Small buffers, checkpoints
// and compactions move data from the log to table files at different times.
func takeMoments(t *testing.T, seed uint64) (out moments) {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 0))
	dir := filepath.Join(t.TempDir(), "store")
	db, err := rocks.Open(dir, rocks.Options{WriteBufferBytes: 64 << 10})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for n := range uint64(momentBatches) {
		if err := db.Write(momentBatch(seed, n+1)); err != nil {
			t.Fatal(err)
		}
		switch rng.IntN(12) {
		case 0:
			if err := db.(kv.Checkpointer).Checkpoint(filepath.Join(t.TempDir(), "copy")); err != nil {
				t.Fatal(err)
			}
		case 1:
			db.Compact(t.Context())
		}
		if rng.IntN(3) == 0 {
			out = append(out, copyFiles(t, dir))
		}
	}
	return append(out, copyFiles(t, dir))
}

func copyFiles(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if content, err := os.ReadFile(filepath.Join(dir, e.Name())); err == nil { // otherwise the file was removed meanwhile
			files[e.Name()] = content
		}
	}
	return files
}

// contents returns all data of a database except the chain.
func contents(t *testing.T, db kv.DB) map[string]string {
	t.Helper()
	out := map[string]string{}
	s := db.Snapshot()
	defer s.Close()
	for f := range kv.Family(kv.Families) {
		it := s.Full(f)
		for ok := it.Seek(nil); ok; ok = it.Next() {
			out[f.String()+string(it.Key())] = string(it.Value())
		}
		if err := it.Err(); err != nil {
			t.Error(err)
		}
		it.Close()
	}
	return out
}

// tryMixed opens a database of these files. The database must be refused, or have the state
// after the batch that it names as its last.
func tryMixed(t *testing.T, what string, seed uint64, files map[string][]byte) (refused bool) {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	db, err := rocks.Open(dir, rocks.Options{})
	if err != nil {
		if k := fault.KindOf(err); k != fault.Corrupt {
			t.Errorf("%s: %v is of kind %v", what, err, k)
		}
		return true
	}
	defer db.Close()
	got, last := contents(t, db), uint64(0)
	if at, ok := got[kv.Meta.String()+string(kv.MetaPosition)]; ok {
		last = kv.KeyPart([]byte(at), 0)
	}
	twin := memory.NewDB()
	for n := range last {
		if err := twin.Write(momentBatch(seed, n+1)); err != nil {
			t.Fatal(err)
		}
	}
	if want := contents(t, twin); !maps.Equal(got, want) {
		t.Errorf("%s: opened after batch %d, with %d values of %d that differ from those of that batch", what, last, differences(got, want), len(want))
	}
	return false
}

// isLog reports whether a file is part of the log.
func isLog(name string) bool { return strings.HasSuffix(name, ".log") }

// TestTwoMoments: the tables of one moment with the log of another one are the complete
// database of some position, or are refused.
func TestTwoMoments(t *testing.T) {
	if testing.Short() {
		t.Skip("short: one goroutine at a time, which no race detector need watch")
	}
	refused, opened := 0, 0
	for seed := range uint64(momentSeeds) {
		list := takeMoments(t, seed)
		rng := rand.New(rand.NewPCG(seed, 2))
		for range momentMixtures {
			i, j := rng.IntN(len(list)), rng.IntN(len(list))
			files := maps.Clone(list[i])
			maps.DeleteFunc(files, func(name string, _ []byte) bool { return isLog(name) })
			for name, content := range list[j] {
				if isLog(name) {
					files[name] = content
				}
			}
			if tryMixed(t, fmt.Sprintf("seed %d, tables of moment %d, log of moment %d", seed, i, j), seed, files) {
				refused++
			} else {
				opened++
			}
		}
	}
	if refused == 0 || opened == 0 {
		t.Errorf("%d mixed databases were refused, %d opened: the test has not met both", refused, opened)
	}
}

// TestCopiedWhileOpen: files that were copied one after another, in any order, while batches
// were written, are the database of some position or are refused.
func TestCopiedWhileOpen(t *testing.T) {
	if testing.Short() {
		t.Skip("short: one goroutine at a time, which no race detector need watch")
	}
	refused := 0
	for seed := range uint64(momentSeeds) {
		list := takeMoments(t, seed)
		rng := rand.New(rand.NewPCG(seed, 1))
		for round := range momentMixtures {
			if tryMixed(t, fmt.Sprintf("seed %d, round %d", seed, round), seed, copiedSlowly(rng, list)) {
				refused++
			}
		}
	}
	if refused == 0 {
		t.Error("none of them was refused: the test has not met what it is about")
	}
}

// copiedSlowly lists the directory at one moment and copies its files in some order, each at a
// moment not before that of the previous file. A file that is gone by then is not copied.
func copiedSlowly(rng *rand.Rand, list moments) map[string][]byte {
	at := rng.IntN(len(list))
	names := slices.Sorted(maps.Keys(list[at]))
	if rng.IntN(2) == 0 { // otherwise in sorted order: logs, CURRENT, MANIFEST
		rng.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	}
	files := map[string][]byte{}
	for _, name := range names {
		if rng.IntN(3) == 0 {
			at = min(at+1+rng.IntN(3), len(list)-1)
		}
		if content, ok := list[at][name]; ok {
			files[name] = content
		}
	}
	if rng.IntN(3) == 0 { // copies the logs once more at the end
		for name, content := range list[at] {
			if isLog(name) {
				files[name] = content
			}
		}
	}
	return files
}

// differences returns the number of keys of a whose values differ in b.
func differences(a, b map[string]string) (n int) {
	for key, value := range a {
		if other, ok := b[key]; !ok || other != value {
			n++
		}
	}
	for key := range b {
		if _, ok := a[key]; !ok {
			n++
		}
	}
	return n
}

// TestUnverified: a database that was not closed says so, and goes on saying so, even after it
// was closed or copied, until its data have been compared.
func TestUnverified(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	is := func(db kv.DB, want bool, when string) {
		t.Helper()
		if db.Unverified() != want {
			t.Errorf("%s: unverified is %t", when, !want)
		}
	}
	open := func(dir string) kv.DB {
		t.Helper()
		db, err := rocks.Open(dir, rocks.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return db
	}
	must := func(errs ...error) {
		t.Helper()
		for _, err := range errs {
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	db := open(dir)
	is(db, false, "a new database")
	must(db.Write(momentBatch(1, 1)), db.Close())
	db = open(dir)
	is(db, false, "a database that was closed")
	must(db.Write(momentBatch(1, 2)))
	crashed := filepath.Join(t.TempDir(), "crashed")
	must(os.CopyFS(crashed, os.DirFS(dir)), db.Close())

	db = open(crashed)
	is(db, true, "a database that was not closed")
	copied := filepath.Join(t.TempDir(), "copied")
	must(db.(kv.Checkpointer).Checkpoint(copied), db.Close())
	for _, dir := range []string{crashed, copied} {
		db = open(dir)
		is(db, true, "the database once it was closed, or a copy of it")
		must(db.Verified())
		is(db, false, "once it was compared")
		must(db.Write(momentBatch(1, 3)), db.Close())
		db = open(dir)
		is(db, false, "opened once it was compared")
		must(db.Close())
	}
}
