package rocks_test

import (
	"path/filepath"
	"testing"

	"adshard/barrels"
	"adshard/barrels/barreltest"
	"adshard/barrels/rocks"
)

func TestConformance(t *testing.T) {
	barreltest.Run(t, func(t testing.TB) barreltest.Open {
		dir := t.TempDir()
		return func(t testing.TB, name string) barrels.Store {
			s, err := rocks.Open(filepath.Join(dir, name), rocks.Options{})
			if err != nil {
				t.Fatalf("open: %v", err)
			}
			return s
		}
	})
}
