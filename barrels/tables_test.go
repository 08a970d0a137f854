package barrels

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// TestTermTable: counts are those of a map, marks stay until a fresh table.
func TestTermTable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		table, want := newTermTable(0), map[uint64]termCount{}
		had := map[uint64]bool{}
		for range rapid.IntRange(1, 3000).Draw(t, "changes") {
			term := rapid.Uint64Range(1, 2000).Draw(t, "term")
			c := termCount{frequency: uint32(rapid.IntRange(0, 3).Draw(t, "frequency")), postings: uint32(rapid.IntRange(0, 2).Draw(t, "postings"))}
			table = table.set(term, c)
			want[term] = c
			had[term] = had[term] || c.postings > 0
		}
		fresh := table.fresh()
		for term, c := range want {
			if table.count(term) != c || table.found(term) != had[term] {
				t.Fatalf("term %d: %+v, found %v", term, table.count(term), table.found(term))
			}
			if fresh.count(term) != c || fresh.found(term) != (c.postings > 0) {
				t.Fatalf("fresh, term %d: %+v, found %v", term, fresh.count(term), fresh.found(term))
			}
		}
		if table.found(0) || table.found(99_999) || table.count(0) != (termCount{}) {
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
				table = table.without(drop)
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
				got, ok := v.table.get(id)
				if want, there := v.want[id]; got != want || ok != there {
					t.Fatalf("id %d: %d, %v; want %d", id, got, ok, want)
				}
			}
		}
	})
}

// TestCache: whatever states read, put and change, a state never gets what
// another would read, and the bytes stay within the limit.
func TestCache(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := newCache[string](rapid.SampledFrom([]uint64{0, 64 << 10, 1 << 20}).Draw(t, "bytes"))
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
				c.note(prefix, newest)
			case 4:
				if state == newest { // states before a clear are not asked for here
					newest++
					cleared = newest
					c.noteAll(newest)
				}
			case 5, 6, 7, 8, 9, 10:
				if state >= cleared {
					c.put(prefix, state, content(prefix, state), rapid.IntRange(0, 2000).Draw(t, "size"))
				}
			default:
				if got, ok := c.get(prefix, state); ok && got != content(prefix, state) {
					t.Fatalf("prefix %d, state %d: %s, want %s", prefix, state, got, content(prefix, state))
				}
			}
		}
		for i := range c.shards {
			if c.shards[i].bytes > c.limit {
				t.Fatalf("%d bytes of %d", c.shards[i].bytes, c.limit)
			}
		}
	})
}

// TestCacheEvicts: a cache that is full goes on taking and dropping.
func TestCacheEvicts(t *testing.T) {
	c := newCache[int](1 << 20)
	for range 100_000 {
		prefix := rand.Uint64N(10_000)
		if _, ok := c.get(prefix, 1); !ok {
			c.put(prefix, 1, 0, 500)
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

func TestPieceLen(t *testing.T) {
	for n, want := range map[int]int{1: 1, 192: 192, 193: 128, 1000: 128} {
		if got := pieceLen(n); got != want {
			t.Errorf("a block of %d postings: %d", n, got)
		}
	}
}
