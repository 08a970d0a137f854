package rocks

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"adshard/barrels"
	"adshard/barrels/barreltest"
	"adshard/fault"
)

// TestFullDisk: the store says that the disk is full, goes on serving its
// data, and applies changes again when there is room. This is so both if the
// check of free space finds it, and if the disk fills up in the middle of a
// batch.
func TestFullDisk(t *testing.T) {
	free := func(string) (uint64, error) { return 1 << 40, nil }
	for _, c := range []struct {
		name    string
		options Options
		free    func(string) (uint64, error)
	}{
		{"between batches", Options{MinFreeBytes: 4 << 20, WriteBufferBytes: 1 << 20}, freeBytes},
		{"in a file of data", Options{WriteBufferBytes: 1 << 20}, free},
		{"in the log", Options{}, free},
	} {
		t.Run(c.name, func(t *testing.T) { fullDisk(t, c.options, c.free) })
	}
}

func fullDisk(t *testing.T, o Options, free func(string) (uint64, error)) {
	disk := barreltest.SmallDisk(t, "24m")
	ballast := filepath.Join(disk, "ballast")
	kv, err := open(filepath.Join(disk, "store"), o)
	if err != nil {
		t.Fatal(err)
	}
	kv.free = free
	s, err := barrels.Open(kv, barrels.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	w := barreltest.NewBuilder(t, barreltest.Small(60, "usb cable")).All()
	if err := s.Apply(context.Background(), w); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(ballast, barreltest.Noise(1, 18<<20), 0o644); err != nil {
		t.Fatal(err)
	}
	clock := uint64(1)
	for err == nil && clock < 200 {
		clock++
		err = s.Apply(context.Background(), barreltest.Bulky(w, clock))
	}
	if !fault.Is(err, fault.NoSpace) {
		t.Fatalf("bucket %d: %v", clock, err)
	}
	barreltest.SameClock(t, s, 60, clock-1)
	for range 5 { // opening the store again may have made some room
		if err = s.Apply(context.Background(), barreltest.Bulky(w, clock)); err == nil {
			clock++
		} else if !fault.Is(err, fault.NoSpace) {
			t.Fatalf("still full: %v", err)
		}
		barreltest.SameClock(t, s, 60, clock-1)
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(30 * time.Second); ; {
		err := s.Apply(context.Background(), barreltest.Bulky(w, clock))
		if err == nil {
			break
		}
		if !fault.Is(err, fault.NoSpace) || time.Now().After(deadline) {
			t.Fatalf("with room again: %v", err)
		}
		time.Sleep(50 * time.Millisecond)
	}
	barreltest.SameClock(t, s, 60, clock)
}

// TestAFullDiskAtTheStart: an open store says that it continues once there is space, also if it cannot be opened again; one that could not
// be opened says that the program must be started again.
func TestAFullDiskAtTheStart(t *testing.T) {
	disk := barreltest.SmallDisk(t, "4m")
	dir := filepath.Join(disk, "store")
	kv, err := open(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(disk, "ballast"), barreltest.Noise(1, 4<<20), 0o644); !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
	says := func(err error, text string) {
		t.Helper()
		if !fault.Is(err, fault.NoSpace) || !strings.HasSuffix(err.Error(), "; free some space, "+text) {
			t.Errorf("%v; want %q at its end", err, text)
		}
	}
	says(classify("rocks: write", syscall.ENOSPC), "the store continues automatically")
	says(kv.Reopen(), "the store continues automatically")
	if err := kv.Close(); err != nil {
		t.Error(err)
	}
	_, err = Open(dir, Options{})
	says(err, "and start the program again")
}
