package memory_test

import (
	"testing"

	"adshard/barrels"
	"adshard/barrels/barreltest"
	"adshard/barrels/kv"
	"adshard/barrels/memory"
)

func TestConformance(t *testing.T) { conformance(t, barrels.Options{}) }

// TestConformanceWithCache uses a cache so small that entries are dropped.
func TestConformanceWithCache(t *testing.T) { conformance(t, barrels.Options{CacheBytes: 1 << 20}) }

func conformance(t *testing.T, o barrels.Options) {
	barreltest.Run(t, func(testing.TB) barreltest.Open {
		kept := map[string]kv.DB{}
		return func(t testing.TB, name string) barrels.Store {
			if kept[name] == nil {
				kept[name] = memory.NewDB()
			}
			s, err := barrels.Open(kept[name], o)
			if err != nil {
				t.Fatalf("open: %v", err)
			}
			return s
		}
	})
}

func TestWarming(t *testing.T) { barreltest.Warming(t, memory.NewDB()) }

func TestWarmingBesideAReset(t *testing.T) { barreltest.WarmingBesideAReset(t, memory.NewDB()) }

func TestWarmingKeepsItsShare(t *testing.T) { barreltest.WarmingKeepsItsShare(t, memory.NewDB()) }
