package rocks_test

import (
	"path/filepath"
	"testing"

	"adshard/barrels"
	"adshard/barrels/barreltest"
	"adshard/barrels/rocks"
)

// openStore opens the store in a directory. Its cache is as large as that of its
// database.
func openStore(dir string, o rocks.Options) (barrels.Store, error) {
	o.SetDefaults()
	db, err := rocks.Open(dir, o)
	if err != nil {
		return nil, err
	}
	return barrels.Open(db, barrels.Options{CacheBytes: o.CacheBytes})
}

func TestConformance(t *testing.T) {
	barreltest.Run(t, func(t testing.TB) barreltest.Open {
		dir := t.TempDir()
		return func(t testing.TB, name string) barrels.Store {
			s, err := openStore(filepath.Join(dir, name), rocks.Options{})
			if err != nil {
				t.Fatalf("open: %v", err)
			}
			return s
		}
	})
}
