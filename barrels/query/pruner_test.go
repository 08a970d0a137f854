package query

import (
	"cmp"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"adshard/barrels/block"
	"adshard/barrels/index"
	"adshard/barrels/kv"
	"adshard/schema/fb"
	"adshard/search"
)

// listOf returns a list whose blocks have these bounds on all devices.
func listOf(bounds []block.Bound) *index.PostingList {
	var all []*index.Block
	for i, bound := range bounds {
		b := index.NewBlock(1, kv.Place{Key: uint64(i)}, onePosting(1))
		stored := fb.GetRootAsBlock(b.View.Bytes(), 0).Bound(nil) // that of all devices
		stored.MutateOwn(bound.Own)
		stored.MutateInherited(bound.Inherited)
		all = append(all, b)
	}
	return index.NewPostingList(1, all)
}

// TestPrunerChoosesTheHighest: the blocks that are visited first are those with the highest
// bounds of all lists, and the bounds of groups are those of their blocks.
func TestPrunerChoosesTheHighest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := pruner{scope: &scope{request: new(search.Request), state: &index.Snapshot{Parents: index.NewParents()}}}
		var want []uint64
		for range rapid.IntRange(1, 4).Draw(t, "lists") {
			bounds := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) block.Bound {
				return block.Bound{Own: rapid.Uint64Range(0, 50).Draw(t, "own"), Inherited: rapid.Uint64Range(0, 50).Draw(t, "inherited")}
			}), index.GroupBlocks/2, 3*index.GroupBlocks).Draw(t, "bounds")
			l := listOf(bounds)
			for g, r := range l.Reach(p.state.Parents, 0).Groups {
				in := bounds[g*index.GroupBlocks : min((g+1)*index.GroupBlocks, len(bounds))]
				most := slices.MaxFunc(in, func(a, b block.Bound) int { return cmp.Compare(larger(a), larger(b)) })
				if r != larger(most) {
					t.Fatalf("group %d of %v: %d", g, in, r)
				}
			}
			for _, b := range bounds {
				want = append(want, max(b.Own, b.Inherited))
			}
			p.chooseOf(l)
		}
		slices.SortFunc(want, func(a, b uint64) int { return cmp.Compare(b, a) })
		var got []uint64
		seen := make(map[queuedBlock]bool)
		for _, b := range p.first {
			got = append(got, b.reach)
			seen[b] = true
			if b.reach != b.list.Reach(p.state.Parents, 0).Blocks[b.block] {
				t.Fatalf("block %d has a different reach than %d", b.block, b.reach)
			}
		}
		if !slices.Equal(got, want[:min(firstBlocks, len(want))]) || len(seen) != len(got) {
			t.Fatalf("got %v, want the first of %v", got, want)
		}
	})
}

func larger(b block.Bound) uint64 { return max(b.Own, b.Inherited) }
