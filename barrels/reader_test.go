package barrels

import (
	"testing"

	"adshard/barrels/block"
	"adshard/barrels/index"
	"adshard/barrels/kv"
	"adshard/search"
)

// TestDamagedBlockInAList: a block whose damage shows only when it is first
// visited is passed over and told of, each time; its neighbours are visited.
func TestDamagedBlockInAList(t *testing.T) {
	damaged := lateDamage(t)
	list := index.NewPostingList(1, []*index.Block{
		index.NewBlock(1, kv.Place{Key: 10}, onePosting(1)), index.NewBlock(1, kv.Place{Key: 20}, damaged),
		index.NewBlock(1, kv.Place{Key: 30}, onePosting(3)),
	})
	for range 3 {
		r := reader{state: &index.Snapshot{Terms: index.NewDictionary(0)}, lists: new(index.ListCache)}
		visited := 0
		if err := r.kept(t.Context(), list, func(search.Block, bool) { visited++ }); err != nil {
			t.Fatal(err)
		}
		if visited != 2 || len(r.bad) != 1 || r.bad[0] != (index.Interval{Lo: 20, Hi: 30}) || !r.rot {
			t.Fatalf("%d blocks were visited, bad are %v", visited, r.bad)
		}
	}
}

// TestAPanicOnASoundBlockIsADefect: it goes on to the caller, and what was kept
// of the term is dropped; a panic on damaged bytes is damage.
func TestAPanicOnASoundBlockIsADefect(t *testing.T) {
	table := index.NewDictionary(0).Set(1, index.TermStats{Frequency: 1, Postings: 1})
	list := index.NewPostingList(1, []*index.Block{index.NewBlock(1, kv.Place{Key: 10}, onePosting(1))})
	lists := new(index.ListCache)
	lists.SetLimit(1 << 20)
	lists.Put(table, 1, list)
	r := reader{state: &index.Snapshot{Terms: table}, lists: lists}
	bug := func(search.Block, bool) { panic("a bug") }
	func() {
		defer func() {
			if cause := recover(); cause != "a bug" {
				t.Errorf("recovered %v", cause)
			}
		}()
		_ = r.kept(t.Context(), list, bug)
	}()
	if kept := table.Peek(1, 1); len(r.bad) > 0 || kept != nil {
		t.Errorf("bad: %v, kept: %v", r.bad, kept)
	}
	damaged := index.NewBlock(1, kv.Place{Key: 20}, lateDamage(t))
	if r.visitBlock(damaged, false, bug) {
		t.Error("a damaged block counts as good")
	}
}

// lateDamage is a block whose checksum and outline are right, but not what lies in
// it.
func lateDamage(t *testing.T) []byte {
	t.Helper()
	const tail = 9 // format and checksum
	for at := range len(onePosting(2)) - tail {
		value := onePosting(2)
		value[at] = 0xfe
		value = block.Seal(value[:len(value)-tail])
		if b := index.NewBlock(1, kv.Place{}, value); b != nil && index.NewPostingList(1, []*index.Block{b}).Block(0) == nil {
			return value
		}
	}
	t.Fatal("all damage shows at once")
	return nil
}

// onePosting is a block of one posting whose keyword is its version.
func onePosting(version uint64) []byte {
	var e block.Encoder
	e.Add(&block.Entry{
		Group: &block.Group{Key: 1, ID: 1, Flags: block.GroupLive}, Keyword: version,
		Words: []block.Word{{Norm: 1, Fold: 1, Term: 1}},
	})
	return e.Append(nil)
}
