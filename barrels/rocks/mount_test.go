package rocks

import (
	"os"
	"path/filepath"
	"testing"

	"adshard/barrels/barreltest"
)

// TestMountOf: two stores on one disk name the same directory, and stores on different disks do not.
func TestMountOf(t *testing.T) {
	disk := barreltest.SmallDisk(t, "1m")
	a, b := filepath.Join(disk, "x", "a"), filepath.Join(disk, "b")
	for _, dir := range []string{a, b} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if mountOf(a) != disk || mountOf(b) != disk || mountOf(filepath.Dir(disk)) == disk {
		t.Errorf("%s, %s, %s", mountOf(a), mountOf(b), mountOf(filepath.Dir(disk)))
	}
	if gone := filepath.Join(disk, "gone"); mountOf(gone) != gone {
		t.Errorf("of nothing: %s", mountOf(gone))
	}
}
