package rocks_test

import (
	"flag"
	"path/filepath"
	"testing"

	"adshard/barrels"
	"adshard/barrels/barreltest"
	"adshard/barrels/rocks"
	"adshard/schema/pb"
)

// stores is a directory in which programs with different versions of RocksDB take turns
// (deploy/rocksdb.sh).
var stores = flag.String("stores", "", "take one turn with the stores in this directory, which another program may have written")

// TestTurns: a process that opens a store, with the table files and logs of another process,
// reads all that was written, and the next process reads what it writes.
func TestTurns(t *testing.T) {
	if *stores != "" {
		takeTurn(t, *stores)
		return
	}
	dir := t.TempDir()
	takeTurn(t, dir)
	takeTurn(t, dir)
}

// takeTurn reads the stores in dir, if there are any, and writes to them.
func takeTurn(t *testing.T, dir string) {
	world := barreltest.NewBuilder(t, barreltest.Small(60, "usb cable", "red shoes")).All()
	goOn(t, filepath.Join(dir, "built"), world)

	// The child leaves its last buckets only in the log.
	killed := filepath.Join(dir, "killed")
	if rocks.Exists(killed) {
		s := reopen(t, killed, world)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	runAndKill(t, killed, 12)
}

// goOn changes a store, which it builds offline in the first turn, and rewrites its files once
// there are many.
func goOn(t *testing.T, dir string, world *pb.NodeData) {
	t.Helper()
	if !rocks.Exists(dir) {
		build(t, dir, world)
	}
	s := reopen(t, dir, world)
	for range 12 {
		if err := s.Apply(t.Context(), barreltest.Bulky(world, s.Position().Clock+1)); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Maintain(t.Context()); err != nil {
		t.Fatal(err)
	}
	sound(t, s, world)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	db, err := rocks.Open(dir, rocks.Options{})
	if err != nil {
		t.Fatal(err)
	}
	db.Compact(t.Context())
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	s = reopen(t, dir, world)
	if err := s.Apply(t.Context(), barreltest.Bulky(world, s.Position().Clock+1)); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// reopen opens a store and reads all of its data.
func reopen(t *testing.T, dir string, world *pb.NodeData) barrels.Store {
	t.Helper()
	s, err := openStore(dir, rocks.Options{WriteBufferBytes: 256 << 10})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s is at %d", filepath.Base(dir), s.Position().Clock)
	sound(t, s, world)
	return s
}

// sound fails the test unless searches and a certificate of all data agree with what was
// written last.
func sound(t *testing.T, s barrels.Store, world *pb.NodeData) {
	t.Helper()
	clock, items := s.Position().Clock, world.Items
	if clock > 1 {
		items = barreltest.Bulky(world, clock).Items
	}
	barreltest.SameClock(t, s, uint64(len(items)), clock)
	c, err := s.Certify(t.Context(), 0, ^uint64(0), ^uint64(0), nil)
	if err != nil {
		t.Fatal(err)
	}
	if want := barreltest.Certified(t, items, world, ^uint64(0)); !barreltest.Equal(c, &want) {
		t.Fatalf("at %d the store has\n%+v\nnot\n%+v", clock, c, want)
	}
}
