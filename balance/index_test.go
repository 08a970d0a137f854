package balance

import (
	"maps"
	"runtime"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"adshard/barrels/certify"
)

// TestIndexEqualsMap compares the index with a plain map.
func TestIndexEqualsMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var x Index
		plain := map[Key]uint32{}
		size := rapid.SampledFrom([]int{10, 100, 4000}).Draw(t, "size")
		seed := rapid.Uint64().Draw(t, "seed")
		for i := range size {
			k := Key(certify.Mix(seed+uint64(i)) % uint64(size))
			if certify.Mix(seed^uint64(i))%3 == 0 {
				x.Delete(k)
				delete(plain, k)
			} else {
				x.Put(k, uint32(i))
				plain[k] = uint32(i)
			}
		}
		if x.Len() != len(plain) {
			t.Fatalf("%d items, wanted %d", x.Len(), len(plain))
		}
		lo := Key(rapid.Uint64Range(0, uint64(size)).Draw(t, "lo"))
		hi := Key(rapid.Uint64Range(0, uint64(size)).Draw(t, "hi"))
		var got []Key
		x.Ascend(lo, hi, func(k Key, w uint32) bool {
			if plain[k] != w {
				t.Fatalf("%d weighs %d, wanted %d", k, w, plain[k])
			}
			got = append(got, k)
			return true
		})
		var want []Key
		for _, k := range slices.Sorted(maps.Keys(plain)) {
			if k >= lo && k <= hi {
				want = append(want, k)
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%v to %v: %v, wanted %v", lo, hi, got, want)
		}
		for k, w := range plain {
			if have, ok := x.Get(k); !ok || have != w {
				t.Fatalf("%d: %d, %v", k, have, ok)
			}
		}
	})
}

// TestIndexIsCompact: an index takes at most 16 bytes per item, whatever the
// order in which items are added.
func TestIndexIsCompact(t *testing.T) {
	const n = 300_000
	for name, key := range map[string]func(i int) Key{
		"random":  func(i int) Key { return Key(certify.Mix(uint64(i + 1))) },
		"rising":  func(i int) Key { return Key(i + 1) },
		"falling": func(i int) Key { return Key(n - i) },
	} {
		before := allocated()
		x := &Index{}
		for i := range n {
			x.Put(key(i), 1)
		}
		if each := float64(allocated()-before) / n; each > 16 {
			t.Errorf("%s: %.1f bytes an item", name, each)
		} else {
			t.Logf("%s: %.1f bytes an item", name, each)
		}
		runtime.KeepAlive(x)
	}
}

func allocated() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func BenchmarkIndexPut(b *testing.B) {
	x := &Index{}
	for i := 0; b.Loop(); i++ {
		x.Put(Key(certify.Mix(uint64(i+1))), 1)
	}
}
