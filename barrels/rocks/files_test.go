package rocks

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"adshard/barrels"
	"adshard/barrels/barreltest"
)

// TestFilesAreCounted: an open database has no more files open than Files said before, however
// many tables it has.
func TestFilesAreCounted(t *testing.T) {
	dir := t.TempDir()
	w := barreltest.NewBuilder(t, barreltest.Small(60, "usb cable")).All()
	for clock := uint64(1); clock < 8; clock++ {
		said := Files(dir)
		kv, err := open(dir, Options{WriteBufferBytes: 1 << 20})
		if err != nil {
			t.Fatal(err)
		}
		s, err := barrels.Open(kv, barrels.Options{})
		if err != nil {
			t.Fatal(err)
		}
		// Opening removes tables that a compaction had replaced when the store was closed.
		if has := openIn(t, dir); has > said || said > 2*has+filesOpen {
			t.Errorf("start %d: %d files are open, Files had said %d", clock, has, said)
		}
		if clock > 1 {
			w = barreltest.Bulky(w, clock)
		}
		if err := s.Apply(t.Context(), w); err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if Files(dir) < filesOpen+10 {
		t.Errorf("%d files: the test makes too few tables", Files(dir))
	}
}

// openIn returns the number of files below dir that this process has open.
func openIn(t *testing.T, dir string) (n uint64) {
	t.Helper()
	links, err := filepath.Glob("/proc/self/fd/*")
	if err != nil || len(links) == 0 {
		t.Fatal("the files of this process cannot be seen", err)
	}
	for _, link := range links {
		if to, err := os.Readlink(link); err == nil && strings.HasPrefix(to, dir) {
			n++
		}
	}
	return n
}
