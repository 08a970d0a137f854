package database_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"adshard/backend/backendtest"
	"adshard/backend/sqlite"
	"adshard/fault"
	"adshard/internal/node/database"
)

// backup makes a backup that includes events.
func backup(t *testing.T) (dir string) {
	t.Helper()
	folder := t.TempDir()
	path := filepath.Join(folder, "ads.db")
	db, err := sqlite.Open(t.Context(), path, sqlite.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	backendtest.Fill(t, db, 20)
	events, err := database.OpenEvents(t.Context(), "sqlite:"+path+"-events")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []interface{ Close() error }{db, events} {
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	}
	dir = filepath.Join(folder, "backup")
	if _, err := database.Backup(t.Context(), path, path+"-events", dir, nil); err != nil {
		t.Fatal(err)
	}
	return dir
}

// says changes the manifest of a backup.
func says(dir string, change func(m *sqlite.Manifest)) error {
	file := filepath.Join(dir, "manifest.json")
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var m sqlite.Manifest
	if err := json.Unmarshal(text, &m); err != nil {
		return err
	}
	change(&m)
	if text, err = json.Marshal(m); err != nil {
		return err
	}
	return os.WriteFile(file, text, 0o600)
}

// sizeOf returns a pointer to the size that a manifest has for one of the backup's files.
func sizeOf(m *sqlite.Manifest, file string) *int64 {
	if file == "events.db" {
		return &m.Events.Size
	}
	return &m.Size
}

// irregular has functions that create something other than a regular file at a path.
var irregular = map[string]func(path string) error{
	"a link":        func(path string) error { return os.Symlink(path+"~", path) },
	"a link away":   func(path string) error { return os.Symlink("/dev/zero", path) },
	"a broken link": func(path string) error { return os.Symlink("../none", path) },
	"a directory":   func(path string) error { return os.Mkdir(path, 0o700) },
	"a pipe":        func(path string) error { return syscall.Mkfifo(path, 0o600) },
	"a device":      func(path string) error { return syscall.Mknod(path, syscall.S_IFCHR|0o600, 1<<8|5) }, // the device of /dev/zero
	"a socket":      func(path string) error { return syscall.Mknod(path, syscall.S_IFSOCK|0o600, 0) },
}

// resized are sizes to which a file is changed. If `admitted` is set, the manifest is changed, too.
var resized = map[string]struct {
	size     int64
	admitted bool
}{
	"empty":      {0, false},
	"cut":        {4096, false},
	"grown":      {1 << 30, false}, // a sparse file
	"enormous":   {1 << 42, true},  // larger than the disk: nothing of it is written
	"empty, too": {0, true},
}

// TestRestoreTakesTheManifestsFilesOnly: anything else in the place of a backup's file is refused, without waiting, and leaves
// nothing behind.
func TestRestoreTakesTheManifestsFilesOnly(t *testing.T) {
	whole := backup(t)
	spoilt := func(name string, spoil func(dir string) error) {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			dir := filepath.Join(folder, "backup")
			if err := os.CopyFS(dir, os.DirFS(whole)); err != nil {
				t.Fatal(err)
			}
			if err := spoil(dir); err != nil {
				t.Skipf("cannot be made here: %v", err)
			}
			checkRefused(t, folder, dir)
		})
	}
	for _, file := range []string{"ads.db", "events.db", "manifest.json"} {
		for name, put := range irregular {
			spoilt(file+" is "+name, func(dir string) error {
				path := filepath.Join(dir, file)
				if err := os.Rename(path, path+"~"); err != nil {
					return err
				}
				return put(path)
			})
		}
		for name, c := range resized {
			spoilt(file+" "+name, func(dir string) error {
				if err := os.Truncate(filepath.Join(dir, file), c.size); err != nil || !c.admitted || file == "manifest.json" {
					return err
				}
				return says(dir, func(m *sqlite.Manifest) { *sizeOf(m, file) = c.size })
			})
		}
	}
	for _, file := range []string{"ads.db", "events.db"} {
		for _, size := range []int64{-1, 0, 1, 1 << 62, -1 << 63} {
			spoilt(fmt.Sprintf("%s is said to have %d bytes", file, size), func(dir string) error {
				return says(dir, func(m *sqlite.Manifest) { *sizeOf(m, file) = size })
			})
		}
	}
	spoilt("no sum", func(dir string) error { return says(dir, func(m *sqlite.Manifest) { m.SHA256 = "" }) })
	spoilt("no sum of events", func(dir string) error { return says(dir, func(m *sqlite.Manifest) { m.Events.SHA256 = "" }) })
	spoilt("a long manifest", func(dir string) error {
		file := filepath.Join(dir, "manifest.json")
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		return os.WriteFile(file, append(text, bytes.Repeat([]byte(" "), 1<<20)...), 0o600)
	})
}

// checkRefused checks that a restore fails with an error about the backup and leaves nothing behind.
func checkRefused(t *testing.T, folder, dir string) {
	t.Helper()
	to := filepath.Join(folder, "restored", "ads.db")
	if err := os.Mkdir(filepath.Dir(to), 0o700); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() {
		_, err := database.Restore(t.Context(), dir, to, to+"-events", false, nil)
		ended <- err
	}()
	select {
	case err := <-ended:
		if !fault.Is(err, fault.Corrupt) && !fault.Is(err, fault.NoSpace) {
			t.Errorf("%v of kind %v", err, fault.KindOf(err))
		}
	case <-time.After(time.Minute):
		t.Fatal("the restore waits")
	}
	var left []string
	_ = filepath.WalkDir(filepath.Dir(to), func(path string, d fs.DirEntry, err error) error {
		if err != nil || path != filepath.Dir(to) {
			left = append(left, path)
		}
		return nil
	})
	if len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// TestDatabasesAreRegularFiles: only regular files are opened as databases, and not, for instance, a pipe, which would block, or /dev/zero, which never ends.
func TestDatabasesAreRegularFiles(t *testing.T) {
	for name, put := range irregular {
		path := filepath.Join(t.TempDir(), "a")
		if name == "a broken link" || name == "a link" {
			continue // a missing file, which is created
		}
		if err := put(path); err != nil {
			t.Logf("%s cannot be made here: %v", name, err)
			continue
		}
		for _, open := range map[string]func() error{
			"database":         func() error { _, err := database.Open(t.Context(), "sqlite:"+path, true); return err },
			"events":           func() error { _, err := database.OpenEvents(t.Context(), "sqlite:"+path); return err },
			"reader of events": func() error { _, err := database.OpenEventReader(t.Context(), "sqlite:"+path); return err },
		} {
			ended := make(chan error, 1)
			go func() { ended <- open() }()
			select {
			case err := <-ended:
				if !fault.Is(err, fault.Invalid) {
					t.Errorf("%s: %v", name, err)
				}
			case <-time.After(time.Minute):
				t.Fatalf("%s: the open waits", name)
			}
		}
	}
}

// TestRestoredFilesAreApart: a database and its events are refused before anything is created if they have the same name, or if one
// would be taken for the log of the other.
func TestRestoredFilesAreApart(t *testing.T) {
	from := backup(t)
	for _, replace := range []bool{false, true} {
		for _, c := range [][2]string{
			{"a", "a"}, {"a", "a-wal"}, {"a", "a-shm"}, {"a", "a-journal"}, {"a-wal", "a"}, {"a-shm", "a"}, {"a-journal", "a"},
			{"a", "./b/../a-wal"}, {"a", "link-wal"}, {"link", "a"}, {"link", "a-wal"},
		} {
			dir := t.TempDir()
			for link, to := range map[string]string{"link": "a", "link-wal": "a-wal"} {
				if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.Mkdir(filepath.Join(dir, "b"), 0o700); err != nil {
				t.Fatal(err)
			}
			_, err := database.Restore(t.Context(), from, dir+"/"+c[0], dir+"/"+c[1], replace, nil)
			if !fault.Is(err, fault.Invalid) {
				t.Errorf("%v: %v of kind %v", c, err, fault.KindOf(err))
			}
			if left, _ := os.ReadDir(dir); len(left) != 3 {
				t.Errorf("%v: left %v", c, left)
			}
		}
	}
}
