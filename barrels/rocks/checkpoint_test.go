package rocks_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"google.golang.org/protobuf/proto"

	"adshard/barrels"
	"adshard/barrels/barreltest"
	"adshard/barrels/rocks"
	"adshard/fault"
)

const clockGroups = 60

// changing makes an open store with a given clock, in which every answer shows the
// clock.
func changing(t *testing.T, clock uint64) (s barrels.Store, dir string, next func()) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "store")
	s, err := openStore(dir, rocks.Options{WriteBufferBytes: 256 << 10})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	world := barreltest.NewBuilder(t, barreltest.Small(clockGroups, "usb cable", "red shoes")).All()
	if err := s.Apply(t.Context(), world); err != nil {
		t.Fatal(err)
	}
	next = func() {
		t.Helper()
		if err := s.Apply(t.Context(), barreltest.Bulky(world, s.Position().Clock+1)); err != nil {
			t.Fatal(err)
		}
	}
	for s.Position().Clock < clock {
		next()
	}
	return s, dir, next
}

// TestCheckpoint: a checkpoint holds the data of exactly the position that it names,
// whatever the store applies and compacts meanwhile and later.
func TestCheckpoint(t *testing.T) {
	s, dir, next := changing(t, 20)
	copied := filepath.Join(dir, "checkpoints", "one")
	c, err := s.Checkpoint(copied)
	if err != nil {
		t.Fatal(err)
	}
	if c.Position.Clock != 20 || !proto.Equal(c.Slices, s.Slices()) {
		t.Fatalf("contents: %+v", c)
	}
	if _, err := s.Checkpoint(copied); !fault.Is(err, fault.Conflict) {
		t.Fatalf("a second one at the same place: %v", err)
	}
	for range 30 {
		next()
	}
	if err := s.Maintain(t.Context()); err != nil {
		t.Fatal(err)
	}
	o, err := openStore(copied, rocks.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	if !proto.Equal(o.Position(), c.Position) {
		t.Fatalf("the copy is at %v, named %v", o.Position(), c.Position)
	}
	barreltest.SameClock(t, o, clockGroups, 20)
	barreltest.SameClock(t, s, clockGroups, 50)
}

// TestSettle: a settled copy serves nothing until it gets a table, and has the
// position and data of its source; damaged files are found before that.
func TestSettle(t *testing.T) {
	s, _, _ := changing(t, 5)
	copied := filepath.Join(t.TempDir(), "copy")
	if _, err := s.Checkpoint(copied); err != nil {
		t.Fatal(err)
	}
	settle := func(dir string) error {
		db, err := rocks.Open(dir, rocks.Options{})
		if err != nil {
			return err
		}
		_, err = barrels.Settle(t.Context(), db, 0)
		return errors.Join(err, db.Close())
	}
	bad := filepath.Join(t.TempDir(), "bad")
	if err := os.CopyFS(bad, os.DirFS(copied)); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(bad, "*.sst"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, f := range files {
		flip(t, f, 1)
	}
	if err := settle(bad); !fault.Is(err, fault.Corrupt) {
		t.Fatalf("a damaged copy: %v", err)
	}
	if err := settle(filepath.Join(t.TempDir(), "empty")); !fault.Is(err, fault.Corrupt) {
		t.Fatalf("an empty copy: %v", err)
	}
	if err := settle(copied); err != nil {
		t.Fatal(err)
	}
	o, err := openStore(copied, rocks.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	if o.Position().Clock != 5 || o.Stats().Groups != s.Stats().Groups {
		t.Fatalf("at %v with %+v", o.Position(), o.Stats())
	}
	for _, h := range o.Slices().Slices {
		if h.From != 0 || h.Until != 0 {
			t.Fatalf("served: %v", h)
		}
	}
	if !o.Slices().Spare {
		t.Fatal("it is taken for a replica of its source's shard")
	}
}

// TestTakingThePlace: whichever step a crash interrupts, the next open finds the copy
// or, if the copy was not complete, the old store; and a running store takes the copy
// over.
func TestTakingThePlace(t *testing.T) {
	old, dir, _ := changing(t, 3)
	source, _, _ := changing(t, 9)
	if err := rocks.Complete(dir); !fault.Is(err, fault.Invalid) {
		t.Fatalf("nothing was completed: %v", err)
	}
	if _, err := source.Checkpoint(rocks.Incoming(dir)); err != nil {
		t.Fatal(err)
	}
	if err := old.Reload(); err != nil {
		t.Fatal(err)
	}
	barreltest.SameClock(t, old, clockGroups, 3)
	if err := rocks.Complete(dir); err != nil {
		t.Fatal(err)
	}
	barreltest.SameClock(t, old, clockGroups, 3)
	if err := old.Reload(); err != nil {
		t.Fatal(err)
	}
	barreltest.SameClock(t, old, clockGroups, 9)
	if err := old.Close(); err != nil {
		t.Fatal(err)
	}
	for n := range 40 {
		again := filepath.Join(t.TempDir(), "store")
		if err := os.CopyFS(again, os.DirFS(dir)); err != nil {
			t.Fatal(err)
		}
		if _, err := source.Checkpoint(rocks.Incoming(again)); err != nil {
			t.Fatal(err)
		}
		if err := rocks.Complete(again); err != nil {
			t.Fatal(err)
		}
		steps := rocks.PlaceAndCrash(again, n)
		if !rocks.Exists(again) {
			t.Fatalf("after %d steps there is no store", n)
		}
		s, err := openStore(again, rocks.Options{})
		if err != nil {
			t.Fatalf("after %d steps: %v", n, err)
		}
		barreltest.SameClock(t, s, clockGroups, 9)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		left, err := filepath.Glob(filepath.Join(again, "[cip]*ing*"))
		if err != nil || len(left) > 0 {
			t.Fatalf("left behind: %q, %v", left, err)
		}
		if steps < n {
			return // there was no further step to interrupt
		}
	}
	t.Fatal("there is no end of steps")
}
