package barrels

import (
	"slices"
	"sync/atomic"
	"testing"

	"adshard/barrels/block"
	"adshard/barrels/index"
	"adshard/barrels/kv"
	"adshard/schema/pb"
)

// TestChunkKeepsAll: however many postings are added before and after those of a
// block, the resulting blocks have all postings, each in the block to which its
// place belongs, even if a new block begins exactly where the old one did.
func TestChunkKeepsAll(t *testing.T) {
	const term, at = 1, 1000
	for _, before := range []int{0, 1, block.Target - 1, block.Target, block.Target + 1, block.Max, 2 * block.Target} {
		for _, held := range []int{1, block.Max - block.Target, block.Max - block.Target + 1, block.Target, block.Max} {
			var e block.Encoder
			for i := range held {
				n := op{term: term, Place: kv.Place{Key: 1, Keyword: uint64(at + i)}, keyword: oneWord(at + i), group: &block.Group{Key: 1}}
				entry := n.entry(nil)
				e.Add(&entry)
			}
			old := e.Append(nil)
			w := newBatchWriter(new(index.ListCache), new(atomic.Uint64), 0)
			if err := w.blocks.view.Open(old); err != nil {
				t.Fatal(err)
			}
			w.blocks.first = kv.Place{Key: 1, Keyword: at}
			var ops []op
			var want []uint64
			for i := range before {
				ops = append(ops, op{term: term, Place: kv.Place{Key: 1, Keyword: uint64(at - before + i)}, keyword: oneWord(at - before + i), group: &block.Group{Key: 1}})
			}
			for i := range before + held {
				want = append(want, uint64(at-before+i))
			}
			if err := w.chunk(term, &w.blocks.view, ops); err != nil {
				t.Fatal(err)
			}
			if got := applied(t, &w.batch, kv.Place{Key: 1, Keyword: at}, old); !slices.Equal(got, want) {
				t.Errorf("%d before a block of %d: %d of %d keywords are left", before, held, len(got), len(want))
			}
		}
	}
}

func oneWord(id int) *pb.Keyword {
	return &pb.Keyword{Id: uint64(id), Enabled: true, Norm: []uint64{1}, Fold: []uint64{1}, Forms: []*pb.Form{{Terms: []uint64{1}}}}
}

// applied returns the keywords in order after a batch was applied to one block.
func applied(t *testing.T, b *kv.Batch, first kv.Place, old []byte) (keywords []uint64) {
	t.Helper()
	blocks := map[kv.Place][]byte{first: old}
	for i := range b.Len() {
		o := b.Op(i)
		key := kv.Place{Key: kv.KeyPart(o.Key, 1), Keyword: kv.KeyPart(o.Key, 2)}
		if o.Kind == kv.Delete {
			delete(blocks, key)
		} else {
			blocks[key] = o.Value
		}
	}
	for key, value := range blocks {
		var v block.View
		if err := v.Open(value); err != nil {
			t.Fatal(err)
		}
		if viewPlace(&v, 0).Less(key) {
			t.Errorf("the block at %v begins at %v", key, viewPlace(&v, 0))
		}
		for i := range v.Len() {
			keywords = append(keywords, v.Keyword(i))
		}
	}
	slices.Sort(keywords)
	return keywords
}
