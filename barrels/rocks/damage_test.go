package rocks_test

import (
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"adshard/barrels"
	"adshard/barrels/barreltest"
	"adshard/barrels/rocks"
	"adshard/fault"
)

// filled makes a store with a few groups, closes it and returns its directory.
func filled(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "store")
	build(t, dir, barreltest.NewBuilder(t, barreltest.Small(30, "usb cable", "red shoes")).All())
	return dir
}

func refuses(t *testing.T, dir string, kind fault.Kind) {
	t.Helper()
	s, err := openStore(dir, rocks.Options{})
	if err == nil {
		_ = s.Close()
	}
	if !fault.Is(err, kind) {
		t.Fatalf("open: %v, want %v", err, kind)
	}
}

// TestDamage: a store with damaged files is refused with a text that says what to do,
// or opens and says that it is incomplete. Nothing crashes.
func TestDamage(t *testing.T) {
	spoil := func(pattern string, change func(path string) error) func(t *testing.T, dir string) {
		return func(t *testing.T, dir string) {
			t.Helper()
			found, err := filepath.Glob(filepath.Join(dir, pattern))
			if err != nil || len(found) == 0 {
				t.Fatalf("no %s in %s: %v", pattern, dir, err)
			}
			for _, f := range found {
				if err := change(f); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	truncate := func(path string) error { return os.Truncate(path, 7) }
	garbage := func(path string) error { return os.WriteFile(path, []byte("not what was there\n"), 0o644) }
	for name, damage := range map[string]func(*testing.T, string){
		"CURRENT missing":    spoil("CURRENT", os.Remove),
		"CURRENT garbage":    spoil("CURRENT", garbage),
		"CURRENT empty":      spoil("CURRENT", func(p string) error { return os.Truncate(p, 0) }),
		"MANIFEST missing":   spoil("MANIFEST-*", os.Remove),
		"MANIFEST cut":       spoil("MANIFEST-*", truncate),
		"MANIFEST garbage":   spoil("MANIFEST-*", garbage),
		"table file missing": spoil("*.sst", os.Remove),
		"table file cut":     spoil("*.sst", truncate),
	} {
		t.Run(name, func(t *testing.T) {
			dir := filled(t)
			damage(t, dir)
			refuses(t, dir, fault.Corrupt)
		})
	}
}

// TestFlippedBytes: whichever byte of the table files is wrong, the store is refused,
// or its answers are right or say that they are incomplete. Its certificate differs or
// is refused, unless no search reads the byte.
func TestFlippedBytes(t *testing.T) {
	whole := filled(t)
	want := certified(t, whole)
	files, err := filepath.Glob(filepath.Join(whole, "*.sst"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	outcome := map[string]int{}
	for _, f := range files {
		for part := 1; part < 8; part++ {
			dir := filepath.Join(t.TempDir(), "store")
			if err := os.CopyFS(dir, os.DirFS(whole)); err != nil {
				t.Fatal(err)
			}
			flip(t, filepath.Join(dir, filepath.Base(f)), part)
			s, err := openStore(dir, rocks.Options{})
			if err != nil {
				if !fault.Is(err, fault.Corrupt) {
					t.Fatalf("%s: %v", f, err)
				}
				outcome["refused"]++
				continue
			}
			right := barreltest.RightOrIncomplete(t, s, "usb cable", 30)
			if right {
				outcome["right"]++
			} else {
				outcome["incomplete"]++
			}
			c, err := s.Certify(t.Context(), 0, ^uint64(0), ^uint64(0), nil)
			switch {
			case err != nil && !fault.Is(err, fault.Corrupt):
				t.Fatalf("%s: %v", f, err)
			case err == nil && barreltest.Equal(c, want) && !right:
				t.Fatalf("%s: the certificate does not show the damage", f)
			case err == nil && barreltest.Equal(c, want):
				outcome["certified"]++
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
	t.Log(outcome)
}

// certified returns the certificate of all data in a store.
func certified(t *testing.T, dir string) *barrels.Certificate {
	t.Helper()
	s, err := openStore(dir, rocks.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	c, err := s.Certify(t.Context(), 0, ^uint64(0), ^uint64(0), nil)
	if err != nil || c.Items != 30 {
		t.Fatal(c, err)
	}
	return c
}

// flip changes a byte at a distance of `part` eighths into the file.
func flip(t *testing.T, path string, part int) {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	raw[len(raw)*part/8] ^= 0x55
	if err := os.WriteFile(path, raw, 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestLocked(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b") // made together with its parents
	s, err := openStore(dir, rocks.Options{})
	if err != nil {
		t.Fatal(err)
	}
	refuses(t, dir, fault.Locked)
	copyOf(t, filepath.Join(dir, "adshard.lock"))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s, err = openStore(dir, rocks.Options{})
	if err != nil {
		t.Fatal(err)
	}
	_ = s.Close()
}

// copyOf keeps a copy of an open file, as happens while a process is being started.
func copyOf(t *testing.T, file string) {
	t.Helper()
	open, err := filepath.Glob("/proc/self/fd/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, link := range open {
		if to, _ := os.Readlink(link); to != file {
			continue
		}
		fd, err := strconv.Atoi(filepath.Base(link))
		if err != nil {
			t.Fatal(err)
		}
		if fd, err = syscall.Dup(fd); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = syscall.Close(fd) })
		return
	}
	t.Fatalf("%s is not open", file)
}

func TestDirectoryCannotBeMade(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	refuses(t, filepath.Join(file, "store"), fault.Unavailable)
}

func TestOptions(t *testing.T) {
	for _, o := range []rocks.Options{{CacheBytes: 1 << 50}, {WriteBufferBytes: 1}} {
		if _, err := openStore(t.TempDir(), o); !fault.Is(err, fault.Invalid) {
			t.Errorf("%+v: %v", o, err)
		}
	}
}
