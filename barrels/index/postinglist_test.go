package index

import (
	"bytes"
	"maps"
	"slices"
	"testing"
	"unsafe"

	"pgregory.net/rapid"

	"adshard/barrels/block"
	"adshard/barrels/kv"
	"adshard/search"
)

// blockValue returns a block of one posting whose keyword is the version.
func blockValue(version uint64) []byte {
	var e block.Encoder
	e.Add(&block.Entry{
		Group: &block.Group{Key: 1, ID: 1, Flags: block.GroupLive}, Keyword: version,
		Words: []block.Word{{Norm: 1, Fold: 1, Term: 1}},
	})
	return e.Append(nil)
}

// list returns the list of a term that a search of a state finds in the cache.
func (t *Dictionary) list(term, state uint64) *PostingList {
	s := t.entry(term)
	if s.key.Load() != term || term == 0 {
		return nil
	}
	return s.cached(state)
}

// TestTermLists: whatever states read, put and change, a state never gets blocks that differ
// from those it would read, and the counted bytes are those of what is kept.
func TestTermLists(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := &listWorld{lists: NewListCache(alone(rapid.SampledFrom([]uint64{0, 8 << 10, 1 << 20}).Draw(t, "limit")))}
		w.table, w.history = NewDictionary(0), [][listTerms]listContent{{}}
		for term := range uint64(listTerms) {
			w.table = w.table.Set(term+1, TermStats{Frequency: 1, Postings: 1})
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

// listContent holds a term's blocks: versions by ring key.
type listContent = map[uint64]uint64

// listWorld holds the lists of some terms, with what each state would read of them.
type listWorld struct {
	lists   *ListCache
	table   *Dictionary
	history [][listTerms]listContent // by state
}

// change makes a new state with other blocks of a term, as the writer does.
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
	renewals := w.lists.Replacements(w.table, &b, number, func() {})
	for i := range renewals {
		w.lists.Replace(w.table, &renewals[i], number)
	}
	w.history = append(w.history, next)
}

// grow adds terms, so that the table is replaced from time to time.
func (w *listWorld) grow() {
	old := w.table
	for i := range uint64(1000) {
		w.table = w.table.Set(uint64(len(w.history))<<20+i, TermStats{Frequency: 1})
	}
	if w.table != old {
		w.lists.Recount(w.table)
	}
}

// read simulates a search of a state that has read a term from the store.
func (w *listWorld) read(term uint64, state int) {
	content := w.history[state][term-1]
	var blocks []*Block
	for _, key := range slices.Sorted(maps.Keys(content)) {
		blocks = append(blocks, NewBlock(1, kv.Place{Key: key}, blockValue(content[key])))
	}
	if len(blocks) > 0 {
		w.lists.Put(w.table, term, NewPostingList(uint64(state), blocks))
	}
}

// ask compares what is kept for a state with what the state would read.
func (w *listWorld) ask(t *rapid.T, term uint64, state int) {
	list := w.table.list(term, uint64(state))
	if list == nil {
		return
	}
	got := listContent{}
	for i := range list.Blocks {
		b := list.Block(i)
		got[b.Key] = b.View.Keyword(int(b.Members()[0]))
	}
	if want := w.history[state][term-1]; !maps.Equal(got, want) {
		t.Fatalf("term %d, state %d: %v, want %v", term, state, got, want)
	}
}

// count compares the counted bytes with those of the cached lists.
func (w *listWorld) count(t *rapid.T) {
	sum := int64(0)
	for i := range w.table.slots {
		if list := w.table.slots[i].list.Load(); list != nil {
			sum += list.total()
		}
	}
	if sum != w.lists.bytes.Load() || sum > w.lists.room.Limit() {
		t.Fatalf("%d bytes are kept, %d counted, the limit is %d", sum, w.lists.bytes.Load(), w.lists.room.Limit())
	}
}

// TestReadyIsSound: whatever is damaged below a right checksum, a block that is made ready can
// be matched with queries, and its impacts computed, without harm.
func TestReadyIsSound(t *testing.T) {
	const tail = 9 // format and checksum
	content := blockValue(2)
	for at := range len(content) - tail {
		for _, wrong := range []byte{1, 3, 0x40, 0xfe} {
			value := bytes.Clone(content)
			value[at] = wrong
			b, ready := NewBlock(1, kv.Place{}, block.Seal(value[:len(value)-tail])), new(Block)
			if b == nil || !b.prepare(ready) {
				continue
			}
			for c := range ready.Signatures() {
				kind, words := ready.Class(c)
				if normal, _ := ready.Norms(c, nil); kind != normal || kind >= search.MatchTypes {
					t.Fatalf("byte %d as %x: match type %d", at, wrong, kind)
				}
				for i := range words.Len() {
					ready.View.Word(words.At(i))
				}
			}
			for _, m := range ready.Members() {
				ready.View.Group(ready.View.GroupOf(int(m)))
			}
		}
	}
}

// TestSameIgnoresPadding: memory is not cleared before classes are put there, so the bytes
// between them may have any value; all bytes that are read count.
func TestSameIgnoresPadding(t *testing.T) {
	var e block.Encoder
	for i := range uint64(3) {
		e.Add(&block.Entry{
			Group: &block.Group{Key: 1, ID: 1, Flags: block.GroupLive}, Keyword: i + 1, Type: uint8(i % 2),
			Words: []block.Word{{Norm: 1, Fold: 1, Term: 1}},
		})
	}
	value, at := e.Append(nil), kv.Place{Key: 1, Keyword: 1}
	l := NewPostingList(1, []*Block{NewBlock(1, at, value)})
	b := l.Block(0)
	classes := unsafe.Slice((*byte)(b.behind(0, 0)), uintptr(len(b.Classes()))*unsafe.Sizeof(Class{}))
	read := unsafe.Offsetof(Class{}.Type) + unsafe.Sizeof(Class{}.Type) // bytes of each class that are read
	for i := range classes {
		classes[i] ^= 1
		padding := uintptr(i)%unsafe.Sizeof(Class{}) >= read
		if same := l.Same(1, at, value) != nil; same != padding {
			t.Errorf("with another byte %d the block is the same: %v; it is padding: %v", i, same, padding)
		}
		classes[i] ^= 1
	}
	if l.Same(1, at, value) != b {
		t.Error("the block is not the same")
	}
}

// TestTouched: a remembered change of a parent is found; a change that is no longer remembered
// counts as one.
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
		p, last := NewParents(), uint64(0) // version of the last change of one of the block's parents
		type version struct{ number, changes uint64 }
		versions := []version{{p.Version, 0}}
		for range rapid.IntRange(1, 40).Draw(t, "versions") {
			p = p.Copy()
			for range rapid.IntRange(0, 3).Draw(t, "changes") {
				c := parentChange{version: p.Version}
				if id := rapid.Uint64Range(1, 12).Draw(t, "id"); rapid.Bool().Draw(t, "campaign") {
					c.campaign = id
				} else {
					c.advertiser = id
				}
				if c.campaign == 7 || c.advertiser == 8 {
					last = p.Version
				}
				p.remember(c)
			}
			versions = append(versions, version{p.Version, p.changes})
			since := versions[rapid.IntRange(0, len(versions)-1).Draw(t, "since")]
			touched, forgotten := p.ChangedIn(since.number, &v), p.changes-since.changes > recentChanges
			if last > since.number && !touched {
				t.Fatalf("since %d: a change in %d was not seen", since.number, last)
			}
			if touched && last <= since.number && !forgotten && p.changes-since.changes < recentChanges {
				t.Fatalf("since %d: seen a change that was not there", since.number)
			}
		}
	})
}
