package index

import (
	"testing"

	"adshard/barrels/kv"
)

// TestOffer: if the writer has read the only block of a term, the block is kept, if there is
// room, for the writer and for searches of the same state until the term changes.
func TestOffer(t *testing.T) {
	const term, state = 7, 3
	at, value := kv.Place{Key: 10}, blockValue(1)
	for _, c := range []struct {
		name  string
		limit uint64
		held  bool
	}{
		{"no memory", 0, false},
		{"half of it would be taken", uint64(2*len(value) - 2), false},
		{"room", 1 << 20, true},
	} {
		table := NewDictionary(0).Set(term, TermStats{Frequency: 1, Postings: 1})
		l := NewListCache(alone(c.limit))
		l.OfferBlock(table, term, state, at, value)
		got := table.Current(term, state)
		if (got != nil) != c.held {
			t.Fatalf("%s: held is %v, want %t", c.name, got, c.held)
		}
		if got == nil {
			continue
		}
		if b := got.Blocks[0].Load(); b.Place != at || b.View.Keyword(0) != 1 || table.list(term, state) != got {
			t.Errorf("%s: the block at %v is another, or not there for searches", c.name, b.Place)
		}
		if l.bytes.Load() != int64(got.bytes) {
			t.Errorf("%s: %d bytes are counted, it takes %d", c.name, l.bytes.Load(), got.bytes)
		}
		if table.Current(term, state-1) != nil {
			t.Errorf("%s: an older state holds it", c.name)
		}
		table.entry(term).changed.Store(state + 1)
		if table.Current(term, state+1) != nil {
			t.Errorf("%s: it is held after a change", c.name)
		}
	}
}

// TestPreparedBlocks: a block that a change puts in place of one that searches visit is ready
// for them, in lists that they have asked for since the last change.
func TestPreparedBlocks(t *testing.T) {
	const term = 7
	var b kv.Batch
	for _, key := range []uint64{10, 20, 40} {
		b.Put(kv.Postings, kv.AppendKey(nil, term, key, 0), blockValue(key))
	}
	ops := []kv.Op{b.Op(0), b.Op(1), b.Op(2)}
	for _, asked := range []bool{false, true} {
		table := NewDictionary(0).Set(term, TermStats{Frequency: 1, Postings: 1})
		l := NewListCache(alone(1 << 20))
		var blocks []*Block
		for _, key := range []uint64{10, 20, 30} {
			blocks = append(blocks, NewBlock(1, kv.Place{Key: key}, blockValue(key)))
		}
		old := NewPostingList(1, blocks)
		old.Block(0) // visited
		old.Block(2)
		l.Put(table, term, old)
		if asked {
			table.list(term, 1)
		}
		r, ok := l.renew(table, 2, ops)
		if !ok || r.next == nil {
			t.Fatal("there is no list of the next state")
		}
		for i, want := range []bool{asked, false, true, false} {
			if got := r.next.Blocks[i].Load(); got.prepared != want {
				t.Errorf("asked for: %t; block %d at %v is ready: %t, want %t", asked, i, got.Place, got.prepared, want)
			}
		}
	}
}
