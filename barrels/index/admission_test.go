package index

import (
	"math/rand/v2"
	"testing"
)

// sketch estimates how often keys were recently asked for (TinyLFU: Einziger, Friedman, Manes
// 2017): four rows of small counters, the smallest of which counts. They are halved after ten
// accesses for each entry of the cache.
type sketch struct {
	rows     [4][]uint8
	accesses int
	halveAt  int
}

func newSketch(entries int) *sketch {
	f := &sketch{halveAt: 10 * entries}
	for i := range f.rows {
		f.rows[i] = make([]uint8, 1<<16)
	}
	return f
}

func (f *sketch) counter(row int, key uint64) *uint8 {
	h := (key + uint64(row)) * [4]uint64{0x9e3779b97f4a7c15, 0xc2b2ae3d27d4eb4f, 0x165667b19e3779f9, 0xd6e8feb86659fd93}[row]
	return &f.rows[row][h>>48]
}

func (f *sketch) note(key uint64) {
	for i := range f.rows {
		if c := f.counter(i, key); *c < 15 {
			*c++
		}
	}
	if f.accesses++; f.accesses < f.halveAt {
		return
	}
	f.accesses /= 2
	for _, row := range f.rows {
		for i := range row {
			row[i] /= 2
		}
	}
}

func (f *sketch) of(key uint64) uint8 {
	least := uint8(15)
	for i := range f.rows {
		least = min(least, *f.counter(i, key))
	}
	return least
}

// admit makes room for a key if it is asked for more often than the entries that would have to
// go.
func admit(c *Cache[int], f *sketch, key uint64, bytes int) bool {
	s := c.shard(key)
	if s.bytes+bytes+CacheOverhead <= c.limit() {
		return true
	}
	for victim, e := range s.entries {
		if e.used {
			e.used = false
			continue
		}
		if f.of(key) <= f.of(victim) {
			return false
		}
		c.Drop(victim)
		return true
	}
	return true
}

// TestAdmission compares the hits of the cache, which when full admits only keys that are asked
// for a second time, with those of a cache that counts every access. Keys follow Zipf's law,
// with room for a twentieth to a fifth of them, among keys that are asked for only once.
// Decision 013 has the figures.
func TestAdmission(t *testing.T) {
	const keys = 50_000
	if testing.Short() {
		t.Skip("short: one goroutine at a time, which no race detector need watch")
	}
	for _, entries := range []int{keys / 20, keys / 10, keys / 5} {
		for _, once := range []float64{0, 0.2, 0.5} {
			now, by := found(keys, entries, once, false), found(keys, entries, once, true)
			t.Logf("%d of %d keys fit, %.0f %% asked for once: %.2f found; admitted by frequency: %.2f", entries, keys, 100*once, now, by)
			if now < 0.9*by {
				t.Errorf("%d of %d keys fit, %.0f %% asked for once: %.2f found, less than the %.2f by frequency", entries, keys, 100*once, now, by)
			}
		}
	}
}

// found returns the share of the accesses to popular keys that hit.
func found(keys, entries int, once float64, byFrequency bool) float64 {
	const bytes, accesses = 1000, 200_000
	r := rand.New(rand.NewPCG(1, 2))
	zipf := rand.NewZipf(r, 1.01, 10, uint64(keys-1))
	c, f := NewCache[int](alone(uint64(entries*(bytes+CacheOverhead)))), newSketch(entries)
	hits, asked, next := 0, 0, uint64(keys)
	for n := range accesses {
		key := zipf.Uint64()
		popular := r.Float64() >= once
		if !popular {
			next++
			key = next
		}
		f.note(key)
		_, ok := c.Get(key, 1)
		if popular && n > accesses/2 {
			asked++
			if ok {
				hits++
			}
		}
		if !ok && (!byFrequency || admit(c, f, key, bytes)) {
			if byFrequency {
				c.admission.admit(key) // the key is admitted
			}
			c.Put(key, 1, 0, bytes)
		}
	}
	return float64(hits) / float64(asked)
}

// TestAFullCacheTakesWhatIsWantedAgain: a full cache does not keep the blocks of a term the
// first time. While there is room it keeps them at once. Terms that were wanted long ago are
// forgotten.
func TestAFullCacheTakesWhatIsWantedAgain(t *testing.T) {
	const bytes = 1 << 20
	l := NewListCache(alone(bytes))
	builds := func(term uint64) bool { b := l.NewListBuilder(term); return b.room > 0 }
	if !builds(1) {
		t.Error("there is room")
	}
	l.bytes.Store(bytes)
	if builds(1) || !builds(1) || !builds(1) {
		t.Error("wanted for the second time")
	}
	for term := range uint64(2 * bytes / usualEntry) {
		builds(term + 2)
	}
	if builds(1) {
		t.Error("wanted long ago")
	}
}
