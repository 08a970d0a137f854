package block_test

import (
	"bytes"
	"math/bits"
	"testing"

	flatbuffers "github.com/google/flatbuffers/go"
	"pgregory.net/rapid"

	"adshard/auction"
	"adshard/barrels/block"
	"adshard/schema/fb"
	"adshard/search"
)

// drawEntries draws entries in order, with only a few words, so that they repeat.
func drawEntries(t *rapid.T) []block.Entry {
	var out []block.Entry
	key, keyword := uint64(0), uint64(0)
	ids := rapid.SampledFrom([]uint64{2, ^uint64(0)}).Draw(t, "largest id")
	for range rapid.IntRange(1, 12).Draw(t, "groups") {
		key += rapid.Uint64Range(1, 1<<50).Draw(t, "key")
		g := &block.Group{
			Key: key, ID: rapid.SampledFrom([]uint64{1, 99, 1<<32 - 1, ids}).Draw(t, "id"), Campaign: key % 7, Advertiser: key % 3,
			Flags: uint16(rapid.IntRange(0, 7).Draw(t, "flags")) | block.FactorFlags(rapid.SampledFrom([]uint64{0, 1000, 9999, 255_000}).Draw(t, "factor")),
		}
		for d := range g.Modifiers {
			g.Modifiers[d] = rapid.SampledFrom([]uint16{block.NotSet, 0, 1, 999, 1000, 10_000}).Draw(t, "modifier")
		}
		keyword = rapid.SampledFrom([]uint64{0, 0, 0, 1 << 32}).Draw(t, "first keyword")
		for range rapid.IntRange(1, block.Max/12).Draw(t, "entries") {
			keyword += rapid.Uint64Range(1, 9).Draw(t, "keyword")
			out = append(out, drawEntry(t, g, keyword))
		}
	}
	return out
}

func drawEntry(t *rapid.T, g *block.Group, keyword uint64) block.Entry {
	e := block.Entry{
		Group: g, Keyword: keyword, Bid: rapid.SampledFrom([]uint64{0, 1, 999, 123_456, 10_000_000_000}).Draw(t, "bid"),
		Type: uint8(rapid.IntRange(0, 2).Draw(t, "type")), Quality: uint8(rapid.IntRange(1, 10).Draw(t, "quality")),
		Flags: uint8(rapid.IntRange(0, 15).Draw(t, "flags")),
	}
	for range rapid.IntRange(1, 10).Draw(t, "words") {
		w := rapid.SampledFrom([]uint64{1, 1 << 60, ^uint64(0)}).Draw(t, "hash") - rapid.Uint64Range(0, 300).Draw(t, "word")
		fold := w
		if rapid.Bool().Draw(t, "folded") {
			fold = w / 2
		}
		e.Words = append(e.Words, block.Word{Norm: w, Fold: fold, Term: w / 3})
	}
	return e
}

func encode(list []block.Entry) []byte {
	var e block.Encoder
	e.Reset()
	for i := range list {
		e.Add(&list[i])
	}
	return e.Append(nil)
}

func open(t interface{ Fatalf(string, ...any) }, value []byte) *block.View {
	v := new(block.View)
	if err := v.Open(value); err != nil {
		t.Fatalf("open: %v", err)
	}
	if err := v.Check(); err != nil {
		t.Fatalf("check: %v", err)
	}
	return v
}

// TestRoundTrip: both a view and the generated code of FlatBuffers give back what was encoded.
func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := drawEntries(t)
		value := encode(list)
		v := open(t, value)
		if v.Len() != len(list) {
			t.Fatalf("%d postings of %d", v.Len(), len(list))
		}
		for i := range list {
			sameEntry(t, v, i, &list[i])
		}
		sameGenerated(t, fb.GetRootAsBlock(value, 0), v)
	})
}

func sameEntry(t *rapid.T, v *block.View, i int, e *block.Entry) {
	keyword, bid, g, quality, flags := v.Detail(i)
	kind, words := v.Posting(i)
	if keyword != e.Keyword || bid != e.Bid || quality != e.Quality || flags != e.Flags || v.Flags(i) != flags ||
		uint8(kind) != e.Type || v.Group(g) != *e.Group || words.Len() != len(e.Words) {
		t.Fatalf("posting %d is not %+v", i, e)
	}
	if v.GroupKey(g) != e.Group.Key || v.GroupFlags(g) != e.Group.Flags ||
		v.GroupModifier(g, search.Mobile) != e.Group.Modifiers[search.Mobile] {
		t.Fatalf("group of posting %d is not %+v", i, e.Group)
	}
	for j, w := range e.Words {
		norm, fold, term := v.Word(words.At(j))
		if (block.Word{Norm: norm, Fold: fold, Term: term}) != w {
			t.Fatalf("word %d of posting %d", j, i)
		}
	}
}

// sameGenerated compares the view with what the generated code reads, field by field.
func sameGenerated(t *rapid.T, root *fb.Block, v *block.View) {
	if root.WordsLength() != v.Words() || int(root.Live()) != v.Live() || root.GroupsLength()+root.WideGroupsLength() != v.Groups() ||
		root.PostingsLength()+root.WidePostingsLength() != v.Len() {
		t.Fatalf("generated code reads other numbers of words, groups or postings")
	}
	for i := range v.Words() {
		var w fb.Word
		norm, fold, term := v.Word(i)
		if root.Words(&w, i); w.Norm() != norm || w.Term() != term {
			t.Fatalf("generated code reads word %d differently", i)
		}
		if last := i - v.Words() + root.FoldsLength(); last >= 0 && root.Folds(last) != fold || last < 0 && norm != fold {
			t.Fatalf("generated code reads fold of word %d differently", i)
		}
	}
	for g := range v.Groups() {
		if generatedGroup(root, g) != v.Group(g) {
			t.Fatalf("generated code reads group %d differently", g)
		}
	}
	for i := range v.Len() {
		sameGeneratedPosting(t, root, v, i)
	}
}

func generatedGroup(root *fb.Block, g int) block.Group {
	group := block.Group{Modifiers: [search.Devices]uint16{block.NotSet, block.NotSet, block.NotSet}}
	var m fb.Modifiers
	if root.Modifiers(&m, g) {
		group.Modifiers = [search.Devices]uint16{m.Desktop(), m.Mobile(), m.Tablet()}
	}
	var w fb.WideGroup
	if root.WideGroups(&w, g) {
		group.Key, group.ID, group.Campaign, group.Advertiser, group.Flags = w.Key(), w.Id(), w.Campaign(), w.Advertiser(), uint16(w.Flags())|block.FactorFlags(1000*uint64(w.Factor()))
		return group
	}
	var n fb.Group
	root.Groups(&n, g)
	group.Key, group.ID, group.Campaign, group.Advertiser, group.Flags = n.Key(), uint64(n.Id()), uint64(n.Campaign()), uint64(n.Advertiser()), uint16(n.Flags())|block.FactorFlags(1000*uint64(n.Factor()))
	return group
}

func sameGeneratedPosting(t *rapid.T, root *fb.Block, v *block.View, i int) {
	keyword, bid, g, quality, flags := v.Detail(i)
	kind, words := v.Posting(i)
	var n fb.Posting
	var w fb.WidePosting
	first := 0
	if root.WidePostings(&w, i) {
		first = int(w.First())
		if w.Keyword() != keyword || w.Bid() != bid || int(w.Group()) != g || w.Quality() != quality || w.Flags() != flags ||
			w.Type() != uint8(kind) || int(w.Words()) != words.Len() {
			t.Fatalf("generated code reads posting %d differently", i)
		}
	} else {
		root.Postings(&n, i)
		first = int(n.First())
		if uint64(n.Keyword()) != keyword || uint64(n.Bid()) != bid || int(n.Group()) != g || n.Quality() != quality || n.Flags() != flags ||
			n.Type() != uint8(kind) || int(n.Words()) != words.Len() {
			t.Fatalf("generated code reads posting %d differently", i)
		}
	}
	for j := range words.Len() {
		at := int(root.References(first + j))
		if root.WideReferencesLength() > 0 {
			at = int(root.WideReferences(first + j))
		}
		if at != words.At(j) {
			t.Fatalf("generated code reads word %d of posting %d differently", j, i)
		}
	}
}

// TestCopies: blocks that are put together from parts of others equal those written at once.
func TestCopies(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := drawEntries(t)
		v := open(t, encode(list))
		var e block.Encoder
		e.Reset()
		for i, end := 0, 0; i < len(list); i = end {
			if end = i + 1; rapid.Bool().Draw(t, "copy") {
				end = rapid.IntRange(i+1, len(list)).Draw(t, "end")
				e.Copy(v, i, end)
			} else {
				e.Add(&list[i])
			}
		}
		if got := e.Append(nil); !bytes.Equal(got, encode(list)) {
			t.Fatalf("the copy differs")
		}
	})
}

// TestBounds: no score is above the bound, whatever the campaigns' modifiers (up to the
// largest) and the level, as computed by brute force over all postings.
func TestBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := drawEntries(t)
		v := open(t, encode(list))
		largest := rapid.Uint64Range(1000, 10_000).Draw(t, "largest")
		level := search.Level(rapid.IntRange(0, search.Levels-1).Draw(t, "level"))
		d := search.Device(rapid.IntRange(0, search.Devices-1).Draw(t, "device"))
		bound, live := v.Bound(d).At(largest, level), 0
		for i := range list {
			e := &list[i]
			if e.Flags&block.Enabled == 0 || e.Group.Flags&block.GroupLive != block.GroupLive {
				continue
			}
			live++
			if e.Flags&block.HasBid == 0 {
				continue
			}
			modifier := rapid.Uint64Range(0, largest).Draw(t, "campaign's modifier")
			if m := e.Group.Modifiers[d]; m != block.NotSet {
				modifier = uint64(m)
			}
			at := level + search.Level(rapid.IntRange(0, search.Levels-1-int(level)).Draw(t, "worse"))
			_, _, score := auction.Rank(e.Bid, modifier, uint64(e.Quality), search.MatchType(e.Type).Permille(), at.Permille())
			if score > bound {
				t.Fatalf("score %d of posting %d is above the bound %d", score, i, bound)
			}
		}
		if live != v.Live() {
			t.Fatalf("%d live, the block says %d", live, v.Live())
		}
	})
}

// TestBoundsDoNotOverflow: a bound that does not fit is the largest number.
func TestBoundsDoNotOverflow(t *testing.T) {
	for _, b := range []block.Bound{{Own: ^uint64(0)}, {Inherited: ^uint64(0)}, {Inherited: 1 << 62}} {
		if got := b.At(10_000, search.Identical); got != ^uint64(0) {
			t.Errorf("%+v: %d", b, got)
		}
	}
	hi, lo := bits.Mul64(1<<50, 800)
	q, rest := bits.Div64(hi, lo, 1000)
	if got := (block.Bound{Own: 1 << 50}).At(1000, search.Synonym); rest == 0 || got != q+1 {
		t.Errorf("rounded to %d, want %d", got, q+1)
	}
}

// TestDamage: every change of a byte is detected.
func TestDamage(t *testing.T) {
	words := []block.Word{{Norm: 1, Fold: 2, Term: 3}}
	value := encode([]block.Entry{{Group: &block.Group{Key: 1, ID: 2}, Keyword: 3, Quality: 1, Words: words}})
	var v block.View
	for i := range value {
		for _, change := range []byte{1, 0x80, 0xff} {
			broken := bytes.Clone(value)
			broken[i] ^= change
			if v.Open(broken) == nil {
				t.Fatalf("byte %d", i)
			}
		}
		if v.Open(value[:i]) == nil {
			t.Fatalf("cut after %d bytes", i)
		}
	}
	if err := v.Open(value); err != nil {
		t.Fatal(err)
	}
}

// TestGeneratedBlocks: a block whose parts are in another order, as other programs write them,
// can be read.
func TestGeneratedBlocks(t *testing.T) {
	b := flatbuffers.NewBuilder(0)
	references := b.CreateByteVector([]byte{0})
	fb.BlockStartWordsVector(b, 1)
	fb.CreateWord(b, 1, 3)
	words := b.EndVector(1)
	fb.BlockStartPostingsVector(b, 1)
	fb.CreatePosting(b, 0, 0, 2, 1, 5, block.Enabled, 20, 21)
	postings := b.EndVector(1)
	fb.BlockStartFoldsVector(b, 1)
	b.PrependUint64(2)
	folds := b.EndVector(1)
	fb.BlockStartGroupsVector(b, 1)
	fb.CreateGroup(b, 10, 11, 12, 13, block.GroupLive, 0)
	groups := b.EndVector(1)
	fb.BlockStart(b)
	fb.BlockAddLive(b, 1)
	fb.BlockAddPostings(b, postings)
	fb.BlockAddGroups(b, groups)
	fb.BlockAddWords(b, words)
	fb.BlockAddFolds(b, folds)
	fb.BlockAddReferences(b, references)
	fb.BlockAddBound(b, fb.CreateBound(b, 7, 8))
	b.Finish(fb.BlockEnd(b))
	v := open(t, block.Seal(b.FinishedBytes()))
	if k, id := v.Key(0); k != 10 || id != 20 || v.Live() != 1 || v.Bound(2) != (block.Bound{Own: 7, Inherited: 8}) {
		t.Fatalf("key %d, keyword %d, %d live, %v", k, id, v.Live(), v.Bound(2))
	}
	if norm, fold, term := v.Word(0); norm != 1 || fold != 2 || term != 3 || v.GroupFlags(0) != block.GroupLive {
		t.Fatalf("word %d %d %d", norm, fold, term)
	}
}

// TestTrust: a trusted block is not checked, other bytes are.
func TestTrust(t *testing.T) {
	var e block.Encoder
	e.Reset()
	g := &block.Group{Key: 2}
	e.Add(&block.Entry{Group: g, Keyword: 2, Words: []block.Word{{Norm: 1}}})
	e.Add(&block.Entry{Group: g, Keyword: 1, Words: []block.Word{{Norm: 1}}})
	disordered := e.Append(nil)
	var v block.View
	for _, trusted := range []bool{false, true, false} {
		if err := v.Open(disordered); err != nil {
			t.Fatal(err)
		}
		if trusted {
			v.Trust()
		}
		if err := v.Check(); (err == nil) != trusted {
			t.Errorf("postings out of order, trusted=%t: %v", trusted, err)
		}
	}
}

// TestWithoutWords: no keyword is without words, but a block may have been damaged before its
// checksum was made. What the writer makes of such a block can be opened.
func TestWithoutWords(t *testing.T) {
	g := &block.Group{Key: 1, ID: 2}
	var v block.View
	if err := v.Open(encode([]block.Entry{{Group: g, Keyword: 3}, {Group: g, Keyword: 4}})); err != nil {
		t.Fatal(err)
	}
	if err := v.Check(); err != nil || v.Len() != 2 || v.Keyword(1) != 4 {
		t.Errorf("%d postings, %v", v.Len(), err)
	}
}
