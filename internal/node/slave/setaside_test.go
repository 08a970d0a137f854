package slave

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"adshard/barrels/barreltest"
	"adshard/barrels/index"
	"adshard/barrels/kv"
	"adshard/barrels/rocks"
	"adshard/fault"
	"adshard/internal/node/memlimit"
	"adshard/search/words"
)

var smallPlan = memlimit.Plan{Cache: 8 << 20, Buffers: 8 << 20, Data: 8 << 20}

// inStead puts something in the place of all files of a pattern; "": in that of the directory.
func inStead(pattern string, put func(path string) error) func(t *testing.T, dir string) {
	return func(t *testing.T, dir string) {
		t.Helper()
		found := []string{dir}
		if pattern != "" {
			found = nil
			for _, name := range contents(dir) {
				if ok, _ := filepath.Match(pattern, name); ok {
					found = append(found, filepath.Join(dir, name))
				}
			}
		}
		if len(found) == 0 {
			t.Fatalf("no %s in %s", pattern, dir)
		}
		for _, path := range found {
			if err := errors.Join(os.RemoveAll(path), put(path)); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func nothing(string) error        { return nil }
func folder(path string) error    { return os.Mkdir(path, 0o700) }
func garbage(path string) error   { return os.WriteFile(path, []byte("not what was there\n"), 0o600) }
func emptyFile(path string) error { return os.WriteFile(path, nil, 0o600) }

// ofFormat makes a store one that a program with another format wrote.
func ofFormat(version byte) func(t *testing.T, dir string) {
	return func(t *testing.T, dir string) {
		t.Helper()
		put(t, dir, "format", []byte{version, 0, 0, 0})
	}
}

// ofWords makes a store one with words of a version.
func ofWords(version string) func(t *testing.T, dir string) {
	return func(t *testing.T, dir string) {
		t.Helper()
		put(t, dir, "words", []byte(version))
	}
}

// put changes a value of a store.
func put(t *testing.T, dir, key string, value []byte) {
	t.Helper()
	db, err := rocks.Open(dir, rocks.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var b kv.Batch
	b.Put(kv.Meta, []byte(key), value)
	if err := db.Write(&b); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

// moreLanguages returns the default languages and one more.
func moreLanguages(t *testing.T) (l words.Languages) {
	t.Helper()
	if err := l.UnmarshalText([]byte("cs,en,de")); err != nil {
		t.Fatal(err)
	}
	return l
}

// contents lists what is in a directory.
func contents(dir string) (all []string) {
	list, _ := os.ReadDir(dir) // it has no list of a file
	for _, e := range list {
		all = append(all, e.Name())
	}
	return all
}

// lacks returns what is missing of what was in a directory, except for files that are renamed whenever it is opened, and for tables
// if it was opened as a database, which may compact them.
func lacks(dir string, before []string, opened bool) (missing []string) {
	now := contents(dir)
	for _, name := range before {
		if ok := strings.HasSuffix(name, ".sst") && !opened || name == "CURRENT" || name == instanceFile || name == adoptedFile; ok && !slices.Contains(now, name) {
			missing = append(missing, name)
		}
	}
	return missing
}

// TestStoresThatCannotBeOpenedAreSetAside: whatever is wrong with a directory, a slave has an empty store in its place, and all that
// was there lies beside it, except for what another directory would not mend: that stays as it is.
func TestStoresThatCannotBeOpenedAreSetAside(t *testing.T) {
	filled := DefaultConfig()
	filled.Dir = filepath.Join(t.TempDir(), "filled")
	fillStore(t, &filled)
	three := func(_ *testing.T, dir string) {
		for _, n := range []string{"1", "2", "3"} {
			_ = os.Mkdir(dir+".set-aside-"+n, 0o700)
		}
	}
	for name, c := range map[string]struct {
		spoil  func(t *testing.T, dir string)
		others bool       // could be opened
		opened bool       // it was, as a database
		stays  fault.Kind // the error of what is not set aside; 0: it is
	}{
		"CURRENT is missing":          {spoil: inStead("CURRENT", nothing)},
		"CURRENT is garbage":          {spoil: inStead("CURRENT", garbage)},
		"CURRENT is empty":            {spoil: inStead("CURRENT", emptyFile)},
		"CURRENT is a directory":      {spoil: inStead("CURRENT", folder)},
		"MANIFEST is missing":         {spoil: inStead("MANIFEST-*", nothing)},
		"MANIFEST is garbage":         {spoil: inStead("MANIFEST-*", garbage)},
		"MANIFEST is a directory":     {spoil: inStead("MANIFEST-*", folder)},
		"tables are missing":          {spoil: inStead("*.sst", nothing)},
		"tables are directories":      {spoil: inStead("*.sst", folder)},
		"the instance is a directory": {spoil: inStead("instance", folder)},
		"the lock is a directory":     {spoil: inStead("adshard.lock", folder)},
		"the store is a file":         {spoil: inStead("", garbage), stays: fault.Invalid},
		"newer format among others":   {spoil: ofFormat(99), others: true, opened: true},
		"newer format alone":          {spoil: ofFormat(99), stays: fault.Version},
		"older format alone":          {spoil: ofFormat(index.FormatVersion - 1), opened: true},
		"older words alone":           {spoil: ofWords("unicode 15.0.0/15.0.0; en snowball 0.9.0; cs light folded 1; xxh64"), opened: true},
		"older words with a number":   {spoil: ofWords("rules 1; unicode 15.0.0/15.0.0"), opened: true},
		"newer words alone":           {spoil: ofWords("rules 99; unicode 15.0.0/15.0.0"), stays: fault.Version},
		"newer words among others":    {spoil: ofWords("rules 99; unicode 15.0.0/15.0.0"), others: true, opened: true},
		"other languages":             {spoil: ofWords(moreLanguages(t).Version()), stays: fault.Version},
		"other languages, one store":  {spoil: ofWords(moreLanguages(t).Version()), others: true, stays: fault.Version},
		"words of nobody knows whom":  {spoil: ofWords("x"), stays: fault.Version},
		"too many": {spoil: func(t *testing.T, dir string) {
			inStead("CURRENT", garbage)(t, dir)
			three(t, dir)
		}, stays: fault.Corrupt},
		"another process has it": {spoil: func(t *testing.T, dir string) {
			db, err := rocks.Open(dir, rocks.Options{})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = db.Close() })
		}, others: true, stays: fault.Locked},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := DefaultConfig()
			cfg.Dir = filepath.Join(t.TempDir(), "store [*]") // a pattern, for others
			if err := os.CopyFS(cfg.Dir, os.DirFS(filled.Dir)); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(cfg.Dir, adoptedFile), []byte("there:1\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			c.spoil(t, cfg.Dir)
			before := contents(cfg.Dir)
			_, err := OpenStore(&cfg, smallPlan)
			if err == nil {
				t.Fatal("it can be opened")
			}
			store, err := Replace(&cfg, smallPlan, err, c.others, slog.New(slog.DiscardHandler))
			beside, _ := filepath.Glob(filepath.Dir(cfg.Dir) + "/*.set-aside-2*T*")
			if c.stays != 0 {
				if !fault.Is(err, c.stays) || len(beside) > 0 || len(lacks(cfg.Dir, before, true)) > 0 {
					t.Fatalf("%v of kind %v; beside it %v", err, fault.KindOf(err), beside)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			defer store.Close()
			if len(beside) != 1 || cfg.aside != beside[0] || len(lacks(beside[0], before, c.opened)) > 0 {
				t.Errorf("beside it: %v, which have %v; there were %v", beside, contents(cfg.aside), before)
			}
			if p := store.Position(); p.GetClock() != 0 {
				t.Errorf("the new store is at %v", p)
			}
			if text, err := os.ReadFile(filepath.Join(cfg.Dir, adoptedFile)); err != nil || string(text) != "there:1\n" {
				t.Errorf("the balancer that has adopted the slave: %q, %v", text, err)
			}
		})
	}
}

// TestAStoreStaysWhenNoMoreFilesCanBeOpened: another directory would not help.
func TestAStoreStaysWhenNoMoreFilesCanBeOpened(t *testing.T) {
	cfg := DefaultConfig()
	cfg.Dir = filepath.Join(t.TempDir(), "store")
	fillStore(t, &cfg)
	cause := fault.New(fault.Unavailable, "rocks: open", syscall.EMFILE)
	if _, err := Replace(&cfg, smallPlan, cause, true, slog.New(slog.DiscardHandler)); !errors.Is(err, cause) || len(contents(cfg.Dir)) == 0 {
		t.Errorf("%v; the directory has %v", err, contents(cfg.Dir))
	}
}

// fillStore makes a store with a few groups.
func fillStore(t *testing.T, cfg *Config) {
	t.Helper()
	store, err := OpenStore(cfg, smallPlan)
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Apply(t.Context(), barreltest.NewBuilder(t, barreltest.Small(30, "usb cable", "red shoes")).All()); err != nil {
		t.Fatal(err)
	}
	CloseStore(store, slog.New(slog.DiscardHandler))
}
