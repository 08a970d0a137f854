package barrels

import (
	"bytes"
	"encoding/binary"
	"maps"
	"slices"
	"testing"

	"adshard/barrels/block"
	"adshard/barrels/kv"
	"adshard/search"

	"pgregory.net/rapid"
)

// blockValue is a block of one posting whose keyword is its version.
func blockValue(version uint64) []byte {
	var e block.Encoder
	e.Add(&block.Entry{
		Group: &block.Group{Key: 1, ID: 1, Flags: block.GroupLive}, Keyword: version,
		Words: []block.Word{{Norm: 1, Fold: 1, Term: 1}},
	})
	return e.Append(nil)
}

// list is what a search of a state finds kept of a term.
func (t *termTable) list(term, state uint64) *termList {
	s := t.slot(term)
	if s.key.Load() != term || term == 0 {
		return nil
	}
	return s.kept(state)
}

// TestTermLists: whatever states read, put and change, a state never gets blocks
// that another would read, and the bytes are those of what is kept.
func TestTermLists(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := &listWorld{lists: &lists{limit: rapid.SampledFrom([]int64{0, 8 << 10, 1 << 20}).Draw(t, "limit")}}
		w.table, w.history = newTermTable(0), [][listTerms]listContent{{}}
		for term := range uint64(listTerms) {
			w.table = w.table.set(term+1, termCount{frequency: 1, postings: 1})
		}
		for range rapid.IntRange(1, 200).Draw(t, "steps") {
			newest := len(w.history) - 1
			term := rapid.Uint64Range(1, listTerms).Draw(t, "term")
			state := newest - min(newest, rapid.IntRange(0, 3).Draw(t, "age"))
			switch rapid.IntRange(0, 9).Draw(t, "step") {
			case 0, 1, 2:
				w.change(t, term)
			case 3:
				w.grow()
			case 4, 5, 6:
				w.read(term, state)
			default:
				w.ask(t, term, state)
			}
			w.count(t)
		}
	})
}

const listTerms = 5

// listContent is a term's blocks: versions by ring key.
type listContent = map[uint64]uint64

// listWorld is lists of some terms with what each state would read of them.
type listWorld struct {
	lists   *lists
	table   *termTable
	history [][listTerms]listContent // by state
}

// change is the writer's: a new state with other blocks of a term.
func (w *listWorld) change(t *rapid.T, term uint64) {
	number := uint64(len(w.history))
	next := w.history[number-1]
	content := listContent{}
	maps.Copy(content, next[term-1])
	next[term-1] = content
	var b kv.Batch
	for _, at := range rapid.SliceOfNDistinct(rapid.Uint64Range(0, 9), 1, 3, rapid.ID).Draw(t, "keys") {
		key := kv.AppendKey(nil, term, at, 0)
		if rapid.Bool().Draw(t, "delete") {
			delete(content, at)
			b.Delete(kv.Postings, key)
		} else {
			content[at] = number
			b.Put(kv.Postings, key, blockValue(number))
		}
	}
	renewals := w.lists.renewals(w.table, &b, number)
	for i := range renewals {
		w.lists.replace(w.table, &renewals[i], number)
	}
	w.history = append(w.history, next)
}

// grow adds terms, so that the table is replaced now and then.
func (w *listWorld) grow() {
	old := w.table
	for i := range uint64(1000) {
		w.table = w.table.set(uint64(len(w.history))<<20+i, termCount{frequency: 1})
	}
	if w.table != old {
		w.lists.recount(w.table)
	}
}

// read is a search of a state that has read a term from the store.
func (w *listWorld) read(term uint64, state int) {
	content := w.history[state][term-1]
	var blocks []*termBlock
	for _, key := range slices.Sorted(maps.Keys(content)) {
		blocks = append(blocks, newTermBlock(1, kv.Place{Key: key}, blockValue(content[key])))
	}
	if len(blocks) > 0 {
		w.lists.keep(w.table, term, newTermList(uint64(state), blocks))
	}
}

// ask compares what is kept for a state with what it would read.
func (w *listWorld) ask(t *rapid.T, term uint64, state int) {
	list := w.table.list(term, uint64(state))
	if list == nil {
		return
	}
	got := listContent{}
	for i := range list.blocks {
		b := list.block(i)
		got[b.Key] = b.members()[0].keyword
	}
	if want := w.history[state][term-1]; !maps.Equal(got, want) {
		t.Fatalf("term %d, state %d: %v, want %v", term, state, got, want)
	}
}

// count compares the bytes counted with those kept.
func (w *listWorld) count(t *rapid.T) {
	sum := int64(0)
	for i := range w.table.slots {
		if list := w.table.slots[i].list.Load(); list != nil {
			sum += int64(list.bytes)
		}
	}
	if sum != w.lists.bytes.Load() || sum > w.lists.limit {
		t.Fatalf("%d bytes are kept, %d counted, the limit is %d", sum, w.lists.bytes.Load(), w.lists.limit)
	}
}

// lateDamage is a block whose checksum and outline are right, but not what lies in
// it.
func lateDamage(t *testing.T) []byte {
	t.Helper()
	const tail = 9 // format and checksum
	for at := range len(blockValue(2)) - tail {
		value := blockValue(2)
		value[at] = 0xfe
		value = block.Seal(value[:len(value)-tail])
		if b := newTermBlock(1, kv.Place{}, value); b != nil && !b.makeReady(new(termBlock)) {
			return value
		}
	}
	t.Fatal("all damage shows at once")
	return nil
}

// TestReadyIsSound: whatever is damaged under a right checksum, what is made
// ready can be held against queries and judged without harm.
func TestReadyIsSound(t *testing.T) {
	const tail = 9 // format and checksum
	content := blockValue(2)
	for at := range len(content) - tail {
		for _, wrong := range []byte{1, 3, 0x40, 0xfe} {
			value := bytes.Clone(content)
			value[at] = wrong
			b, ready := newTermBlock(1, kv.Place{}, block.Seal(value[:len(value)-tail])), new(termBlock)
			if b == nil || !b.makeReady(ready) {
				continue
			}
			for c := range ready.Signatures() {
				kind, words := ready.Class(c)
				if normal, _ := ready.Norms(c); kind != normal || kind >= search.MatchTypes {
					t.Fatalf("byte %d as %x: match type %d", at, wrong, kind)
				}
				for ; len(words) >= 2; words = words[2:] {
					ready.Word(int(binary.LittleEndian.Uint16(words)))
				}
			}
			for _, m := range ready.members() {
				ready.view.Group(ready.view.GroupOf(int(m.posting)))
			}
		}
	}
}

// TestDamagedBlockInAList: a block whose damage shows only when it is first
// visited is passed over and told of, each time; its neighbours are visited.
func TestDamagedBlockInAList(t *testing.T) {
	damaged := lateDamage(t)
	var b kv.Batch
	b.Put(kv.Postings, kv.AppendKey(nil, 1, 20, 0), damaged)
	list := newTermList(1, []*termBlock{
		newTermBlock(1, kv.Place{Key: 10}, blockValue(1)), newTermBlock(1, kv.Place{Key: 30}, blockValue(3)),
	}).with(2, []kv.Op{b.Op(0)})
	if list == nil {
		t.Fatal("the damage shows at once")
	}
	for range 3 {
		r := reader{state: &state{terms: newTermTable(0)}, lists: new(lists)}
		visited := 0
		if err := r.kept(t.Context(), list, func(search.Block, bool) { visited++ }); err != nil {
			t.Fatal(err)
		}
		if visited != 2 || len(r.bad) != 1 || r.bad[0] != (run{20, 30}) || !r.rot {
			t.Fatalf("%d blocks were visited, bad are %v", visited, r.bad)
		}
	}
}

// TestAPanicOnASoundBlockIsADefect: it goes on to the caller, and what was kept
// of the term is dropped; a panic on damaged bytes is damage.
func TestAPanicOnASoundBlockIsADefect(t *testing.T) {
	table := newTermTable(0).set(1, termCount{1, 1})
	list := newTermList(1, []*termBlock{newTermBlock(1, kv.Place{Key: 10}, blockValue(1))})
	table.slot(1).list.Store(list)
	r := reader{state: &state{terms: table}, lists: new(lists)}
	bug := func(search.Block, bool) { panic("a bug") }
	func() {
		defer func() {
			if cause := recover(); cause != "a bug" {
				t.Errorf("recovered %v", cause)
			}
		}()
		_ = r.kept(t.Context(), list, bug)
	}()
	if len(r.bad) > 0 || table.slot(1).list.Load() != nil {
		t.Errorf("bad: %v, kept: %v", r.bad, table.slot(1).list.Load())
	}
	damaged := newTermBlock(1, kv.Place{Key: 20}, lateDamage(t))
	if r.visitBlock(damaged, false, bug) {
		t.Error("a damaged block counts as good")
	}
}

// TestChoiceIsTheBound: a block is passed over without being touched only when
// its bound says that it cannot win, and always then where the numbers are far
// from the largest.
func TestChoiceIsTheBound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		number := rapid.OneOf(rapid.Uint64(), rapid.Uint64Range(0, 5000), rapid.Just(^uint64(0)))
		b := block.Bound{Own: number.Draw(t, "own"), Inherited: number.Draw(t, "inherited")}
		need := number.Draw(t, "need")
		largest := rapid.Uint64Range(1000, 10_000).Draw(t, "largest")
		level := rapid.SampledFrom([]search.Level{search.Identical, search.Synonym}).Draw(t, "level")
		own := leastFactor(need, level.Permille())
		inherited := leastFactor(own, largest)
		if got, want := b.Own >= own || b.Inherited >= inherited, b.At(largest, level) >= need; got != want && (want || need < 1<<53) {
			t.Fatalf("%+v for %d at %v, largest modifier %d: wins %v, its bound is %d", b, need, level, largest, got, b.At(largest, level))
		}
	})
}

// TestTouched: a change of a parent is found out while it is remembered, and
// what is not remembered counts as a change.
func TestTouched(t *testing.T) {
	var v block.View
	if err := v.Open(func() []byte {
		var e block.Encoder
		e.Add(&block.Entry{
			Group: &block.Group{Key: 1, ID: 1, Campaign: 7, Advertiser: 8},
			Words: []block.Word{{Norm: 1, Fold: 1, Term: 1}},
		})
		return e.Append(nil)
	}()); err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		p, last := newParents(), uint64(0) // version of the last change of one of the block's
		type version struct{ number, changes uint64 }
		versions := []version{{p.version, 0}}
		for range rapid.IntRange(1, 40).Draw(t, "versions") {
			p = p.copy()
			for range rapid.IntRange(0, 3).Draw(t, "changes") {
				c := parentChange{version: p.version}
				if id := rapid.Uint64Range(1, 12).Draw(t, "id"); rapid.Bool().Draw(t, "campaign") {
					c.campaign = id
				} else {
					c.advertiser = id
				}
				if c.campaign == 7 || c.advertiser == 8 {
					last = p.version
				}
				p.changed(c)
			}
			versions = append(versions, version{p.version, p.changes})
			since := versions[rapid.IntRange(0, len(versions)-1).Draw(t, "since")]
			touched, forgotten := p.touched(since.number, func(c *parentChange) bool { return parentOf(&v, c) }), p.changes-since.changes > recentChanges
			if last > since.number && !touched {
				t.Fatalf("since %d: a change in %d was not seen", since.number, last)
			}
			if touched && last <= since.number && !forgotten && p.changes-since.changes < recentChanges {
				t.Fatalf("since %d: seen a change that was not there", since.number)
			}
		}
	})
}
