package index

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// TestTermTable: counts are those of a map; marks stay until there is a fresh
// table.
func TestTermTable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		table, want := NewDictionary(0), map[uint64]TermStats{}
		had := map[uint64]bool{}
		for range rapid.IntRange(1, 3000).Draw(t, "changes") {
			term := rapid.Uint64Range(1, 2000).Draw(t, "term")
			c := TermStats{Frequency: uint32(rapid.IntRange(0, 3).Draw(t, "frequency")), Postings: uint32(rapid.IntRange(0, 2).Draw(t, "postings"))}
			table = table.Set(term, c)
			want[term] = c
			had[term] = had[term] || c.Postings > 0
		}
		fresh := table.Fresh()
		for term, c := range want {
			if table.Stats(term) != c || table.HasPostings(term) != had[term] {
				t.Fatalf("term %d: %+v, found %v", term, table.Stats(term), table.HasPostings(term))
			}
			if fresh.Stats(term) != c || fresh.HasPostings(term) != (c.Postings > 0) {
				t.Fatalf("fresh, term %d: %+v, found %v", term, fresh.Stats(term), fresh.HasPostings(term))
			}
		}
		if table.HasPostings(0) || table.HasPostings(99_999) || table.Stats(0) != (TermStats{}) {
			t.Fatal("a term that was never set is there")
		}
	})
}

// TestIDTable: copies are independent of each other.
func TestIDTable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		table, want := newIDTable[int](idPageBits), map[uint64]int{}
		type version struct {
			table *idTable[int]
			want  map[uint64]int
		}
		var versions []version
		for range rapid.IntRange(1, 30).Draw(t, "versions") {
			table = table.copy()
			next := map[uint64]int{}
			for id, v := range want {
				next[id] = v
			}
			want = next
			for range rapid.IntRange(0, 40).Draw(t, "changes") {
				id := rapid.Uint64Range(1, 300).Draw(t, "id")
				want[id]++
				table = table.set(id, want[id])
			}
			if rapid.IntRange(0, 9).Draw(t, "sweep") == 0 {
				drop := func(id uint64) bool { return id%3 == 0 }
				table = table.Without(drop)
				for id := range want {
					if drop(id) {
						delete(want, id)
					}
				}
			}
			versions = append(versions, version{table, want})
		}
		for _, v := range versions {
			if v.table.size != len(v.want) {
				t.Fatalf("%d ids of %d", v.table.size, len(v.want))
			}
			for id := range uint64(302) {
				got, ok := v.table.Get(id)
				if want, there := v.want[id]; got != want || ok != there {
					t.Fatalf("id %d: %d, %v; want %d", id, got, ok, want)
				}
			}
		}
	})
}

// TestCache: whatever states read, put and change, a state never gets a value
// that differs from what it would read, and the bytes stay within the limit.
func TestCache(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := NewCache[string](alone(rapid.SampledFrom([]uint64{0, 64 << 10, 1 << 20}).Draw(t, "bytes")))
		history := map[uint64][]uint64{} // by prefix: the states that changed it
		cleared := uint64(0)
		content := func(prefix, state uint64) string {
			since := uint64(0)
			for _, s := range history[prefix] {
				if s <= state {
					since = s
				}
			}
			if cleared <= state {
				since = max(since, cleared)
			}
			return fmt.Sprint(prefix, since)
		}
		newest := uint64(1)
		for range rapid.IntRange(1, 300).Draw(t, "steps") {
			prefix := rapid.Uint64Range(0, 20).Draw(t, "prefix")
			state := newest - min(newest-1, rapid.Uint64Range(0, 3).Draw(t, "age"))
			switch rapid.IntRange(0, 20).Draw(t, "step") {
			case 0, 1, 2, 3:
				newest++
				history[prefix] = append(history[prefix], newest)
				c.Changed(prefix, newest)
			case 4:
				if state == newest { // this test does not ask for states before a clear
					newest++
					cleared = newest
					c.ChangedAll(newest)
				}
			case 5, 6, 7, 8, 9, 10:
				if state >= cleared {
					c.Put(prefix, state, content(prefix, state), rapid.IntRange(0, 2000).Draw(t, "size"))
				}
			default:
				if got, ok := c.Get(prefix, state); ok && got != content(prefix, state) {
					t.Fatalf("prefix %d, state %d: %s, want %s", prefix, state, got, content(prefix, state))
				}
			}
		}
		for i := range c.shards {
			if c.shards[i].bytes > c.limit() {
				t.Fatalf("%d bytes of %d", c.shards[i].bytes, c.limit())
			}
		}
	})
}

// TestCacheEvicts: a full cache goes on adding and dropping entries.
func TestCacheEvicts(t *testing.T) {
	c := NewCache[int](alone(1 << 20))
	for range 100_000 {
		prefix := rand.Uint64N(10_000)
		if _, ok := c.Get(prefix, 1); !ok {
			c.Put(prefix, 1, 0, 500)
		}
	}
	entries := 0
	for i := range c.shards {
		entries += len(c.shards[i].entries)
	}
	if entries < 500 || entries > 1<<20/500 {
		t.Fatalf("%d entries", entries)
	}
}
