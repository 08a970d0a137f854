package memory_test

import (
	"testing"

	"adshard/barrels"
	"adshard/barrels/barreltest"
	"adshard/barrels/memory"
)

func TestConformance(t *testing.T) {
	barreltest.Run(t, func(testing.TB) barreltest.Open {
		kept := map[string]barrels.KV{}
		return func(t testing.TB, name string) barrels.Store {
			if kept[name] == nil {
				kept[name] = memory.NewKV()
			}
			s, err := barrels.Open(kept[name])
			if err != nil {
				t.Fatalf("open: %v", err)
			}
			return s
		}
	})
}
