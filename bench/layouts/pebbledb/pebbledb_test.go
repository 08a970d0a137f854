package pebbledb

import (
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	"adshard/barrels"
	"adshard/barrels/barreltest"
	"adshard/bench/layouts/layouttest"
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
