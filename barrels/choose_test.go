package barrels

import (
	"cmp"
	"slices"
	"testing"

	"adshard/barrels/block"
	"adshard/barrels/kv"
	"adshard/search"

	"pgregory.net/rapid"
)

// listOf is a list whose blocks have these bounds on all devices.
func listOf(bounds []block.Bound) *termList {
	var all []*termBlock
	for i, bound := range bounds {
		b := newTermBlock(1, kv.Place{Key: uint64(i)}, blockValue(1))
		for d := range b.bounds {
			b.bounds[d] = bound
		}
		all = append(all, b)
	}
	return newTermList(1, all)
}

// TestPromising: the blocks that go first are those with the highest bounds of all
// lists, and groups' bounds are those of their blocks.
func TestPromising(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var c choice
		c.reset(&finder{request: &search.Request{}})
		var want []uint64
		for range rapid.IntRange(1, 4).Draw(t, "lists") {
			bounds := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) block.Bound {
				return block.Bound{Own: rapid.Uint64Range(0, 50).Draw(t, "own"), Inherited: rapid.Uint64Range(0, 50).Draw(t, "inherited")}
			}), fewBlocks+1, 3*groupBlocks).Draw(t, "bounds")
			l := listOf(bounds)
			for g, b := range l.bounds[0].groups {
				in := bounds[g*groupBlocks : min((g+1)*groupBlocks, len(bounds))]
				own := slices.MaxFunc(in, func(a, b block.Bound) int { return cmp.Compare(a.Own, b.Own) }).Own
				inherited := slices.MaxFunc(in, func(a, b block.Bound) int { return cmp.Compare(a.Inherited, b.Inherited) }).Inherited
				if b != (block.Bound{Own: own, Inherited: inherited}) {
					t.Fatalf("group %d of %v: %+v", g, in, b)
				}
			}
			for _, b := range bounds {
				want = append(want, max(b.Own, b.Inherited))
			}
			c.promising(l)
		}
		slices.SortFunc(want, func(a, b uint64) int { return cmp.Compare(b, a) })
		var got []uint64
		seen := make(map[promise]bool)
		for _, p := range c.first {
			got = append(got, p.bound)
			seen[p] = true
			if p.bound != larger(&p.list.bounds[0].blocks[p.block]) {
				t.Fatalf("block %d has another bound than %d", p.block, p.bound)
			}
		}
		if !slices.Equal(got, want[:min(firstBlocks, len(want))]) || len(seen) != len(got) {
			t.Fatalf("got %v, want the first of %v", got, want)
		}
	})
}

// TestRank: the entries of a class lie as hits are ranked, the first one of each
// advertiser before all that it surpasses, and none is lost.
func TestRank(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 12).Draw(t, "members")
		members, entries := make([]member, n), make([]entry, n)
		for i := range n {
			members[i] = member{keyword: uint64(100 - i), advertiser: rapid.Uint64Range(1, 4).Draw(t, "advertiser")}
			w := rapid.SampledFrom([]worth{dead, excluded, unclear, 2, 3, 4, unclear - 1}).Draw(t, "worth")
			quality := rapid.OneOf(rapid.Uint8Range(1, 3), rapid.Just(uint8(mostQuality))).Draw(t, "quality")
			e := newEntry(w, quality, i)
			if takes := w > excluded && w != unclear; e.worth() != w || e.member() != i || takes && e.quality() != uint64(quality) || (e.product() > 0) != takes {
				t.Fatalf("%d of quality %d became %x", w, quality, uint64(e))
			}
			entries[i] = e
		}
		before := slices.Clone(entries)
		rank(entries, members)
		best := make(map[uint64]bool)
		for i, e := range entries {
			owner := members[e.member()].advertiser
			if again := e&surpassed != 0; again != best[owner] {
				t.Fatalf("%d of %v: surpassed %v", i, entries, again)
			}
			best[owner] = true
			if i > 0 && entries[i-1]&surpassed == e&surpassed {
				a, b := entries[i-1], e
				if a.product() < b.product() || a.product() == b.product() && members[a.member()].keyword > members[b.member()].keyword {
					t.Fatalf("%d of %v comes too early", i-1, entries)
				}
			}
		}
		after := slices.Clone(entries)
		for i := range after {
			after[i] &^= surpassed
		}
		slices.Sort(before)
		slices.Sort(after)
		if !slices.Equal(before, after) {
			t.Fatalf("%v became %v", before, after)
		}
	})
}
