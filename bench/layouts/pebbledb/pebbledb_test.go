package pebbledb

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	"adshard/barrels"
	"adshard/barrels/barreltest"
	"adshard/barrels/kv"
	"adshard/bench/layouts/layouttest"
	"adshard/bench/layouts/served"
	"adshard/fault"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestConformance(t *testing.T) {
	barreltest.Run(t, func(t testing.TB) barreltest.Open {
		dir := t.TempDir()
		return func(t testing.TB, name string) barrels.Store {
			kv, err := openKV(filepath.Join(dir, name), 8<<20)
			if err != nil {
				t.Fatal(err)
			}
			s, err := barrels.Open(kv, barrels.Options{CacheBytes: 4 << 20})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = s.Close() }) // some clauses leave a store open
			return s
		}
	})
}

func TestLayout(t *testing.T) { layouttest.Run(t, Layout()) }

// filled makes a store of 30 groups and closes it.
func filled(t *testing.T, dir string) {
	t.Helper()
	kv, err := openKV(dir, 8<<20)
	if err != nil {
		t.Fatal(err)
	}
	s, err := barrels.Open(kv, barrels.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Apply(t.Context(), barreltest.NewBuilder(t, barreltest.Small(30, "usb cable", "red shoes")).All()); err != nil {
		t.Fatal(err)
	}
	kv.Compact(t.Context()) // into files
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// incomplete reports whether a store cannot be opened because it is damaged, or
// says that its answers are incomplete. If neither is the case, it checks that
// answers are right.
func incomplete(t *testing.T, dir string) bool {
	t.Helper()
	s, err := served.Open(engine{}, dir, 8<<20)
	if fault.Is(err, fault.Corrupt) {
		return true
	}
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	right := barreltest.RightOrIncomplete(t, s, "usb cable", 30)
	if again := barreltest.RightOrIncomplete(t, s, "usb cable", 30); again != right || !right && s.Stats().BadBlocks < 2 {
		t.Errorf("right: %t, then %t; %d bad blocks are counted", right, again, s.Stats().BadBlocks)
	}
	return !right
}

// TestDamagedBlocks: damaged blocks are counted and reported.
func TestDamagedBlocks(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	filled(t, dir)
	db, err := openKV(dir, 8<<20)
	if err != nil {
		t.Fatal(err)
	}
	var b kv.Batch
	snapshot := db.Snapshot()
	it := snapshot.Full(kv.Postings)
	for ok := it.Seek(nil); ok; ok = it.Next() {
		value := bytes.Clone(it.Value())
		value[len(value)/2] ^= 1
		b.Put(kv.Postings, bytes.Clone(it.Key()), value)
	}
	it.Close()
	snapshot.Close()
	if err := db.Write(&b); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if !incomplete(t, dir) {
		t.Error("the answer is right")
	}
}

// TestFlippedBytes: whichever byte of a file is wrong, answers are right or say
// that they are incomplete, or the store cannot be opened.
func TestFlippedBytes(t *testing.T) {
	whole := filepath.Join(t.TempDir(), "store")
	filled(t, whole)
	files, err := filepath.Glob(filepath.Join(whole, "*.sst"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	said := 0
	for _, f := range files {
		for part := range 16 {
			dir := filepath.Join(t.TempDir(), "store")
			if err := os.CopyFS(dir, os.DirFS(whole)); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(dir, filepath.Base(f))
			raw, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			raw[len(raw)*part/16] ^= 0x55
			if err := os.WriteFile(path, raw, 0o644); err != nil {
				t.Fatal(err)
			}
			if incomplete(t, dir) {
				said++
			}
		}
	}
	t.Logf("%d of %d times the damage is met", said, 16*len(files))
	if said == 0 {
		t.Error("no damage was met")
	}
}
