package query

import (
	"bytes"
	"testing"

	"adshard/barrels/block"
	"adshard/barrels/index"
	"adshard/barrels/kv"
	"adshard/search"
	"adshard/search/words"
)

// levels is a sink that keeps the best level of each keyword. If panic is set, it
// panics at the first one.
type levels struct {
	found map[uint64]search.Level
	panic bool
}

func (*levels) enter(blockRef, uint64) {}

func (l *levels) match(list []classRef) {
	if l.panic {
		l.panic = false
		panic("damaged")
	}
	for i := range list {
		c := &list[i]
		if c.cached == nil {
			l.add(c.view.Keyword(int(c.class)), c.level)
			continue
		}
		first, end := c.cached.Range(int(c.class))
		for _, m := range c.cached.Members()[first:end] {
			l.add(c.view.Keyword(int(m)), c.level)
		}
	}
}

func (l *levels) add(keyword uint64, level search.Level) {
	if old, ok := l.found[keyword]; !ok || level < old {
		l.found[keyword] = level
	}
}

func wordOf(text string) block.Word {
	return block.Word{Norm: words.Hash(text), Fold: words.Hash(text), Term: words.TermOf("en", text)}
}

// blockOf returns a block of one keyword.
func blockOf(keyword uint64, kind search.MatchType, list ...block.Word) []byte {
	var e block.Encoder
	e.Add(&block.Entry{
		Group: &block.Group{Key: 1, ID: 1, Flags: block.GroupLive}, Keyword: keyword, Type: uint8(kind), Quality: 5,
		Flags: block.Enabled, Words: list,
	})
	return e.Append(nil)
}

// scanFor returns a scan for a query that visits every block it is given.
func scanFor(t testing.TB, text string, p search.Profile, to sink) *scan {
	t.Helper()
	q, err := search.Expand(text, search.Synonym, nil)
	if err != nil {
		t.Skip(err)
	}
	terms := index.NewDictionary(0)
	for _, term := range q.Terms {
		terms = terms.Set(term.Term, index.TermStats{Frequency: 1})
	}
	s := scanOf(terms, index.NewListCache(alone(0)), to)
	s.scope.request.Query, s.scope.request.Profile = q, p
	s.reset(to, false)
	s.deadBlocks = true
	return s
}

// FuzzScanBlock: a block with a right checksum is refused, whatever its bytes, or
// a scan of it ends and finds no level that its rules do not permit.
func FuzzScanBlock(f *testing.F) {
	const tail = 9 // format and checksum
	sound := blockOf(1, search.Broad, wordOf("usb"), wordOf("cable"))
	f.Add("usb cable", sound[:len(sound)-tail], uint8(3), uint16(0))
	f.Add("cable usb cable", sound[:len(sound)-tail], uint8(1), uint16(0x7fff))
	f.Add("a b c d e f g h i j k l m n o p q r s t u v w x y z 0 1 2 3 4 5 6 7", sound[:len(sound)-tail], uint8(0), uint16(0xffff))
	f.Fuzz(func(t *testing.T, text string, b []byte, reach uint8, flags uint16) {
		var p search.Profile
		for i := range p {
			bits := flags >> (3 * i)
			p[i] = search.Rule{Others: bits&1 > 0, Ordered: bits&2 > 0, Adjacent: bits&4 > 0, Reach: search.Level(reach)}
		}
		to := &levels{found: map[uint64]search.Level{}}
		s := scanFor(t, text, p, to)
		value := block.Seal(bytes.Clone(b))
		var v block.View
		if v.Open(value) == nil && v.Check() == nil && v.Sign() == nil {
			s.visitSafely(blockRef{view: &v}, 1, false)
		}
		if raw := index.NewBlock(1, kv.Place{}, value); raw != nil {
			if b := index.NewPostingList(1, []*index.Block{raw}).Block(0); b != nil {
				s.visitSafely(refOf(b), 1, false)
			}
		}
		for _, l := range to.found {
			if l > search.Synonym || l > search.Level(reach) {
				t.Fatalf("level %v beyond reach %d", l, reach)
			}
		}
	})
}

// TestDamageHarmsNoOther: after a block that panics, the next block is matched by
// its own words, even if the scan reuses a view for it.
func TestDamageHarmsNoOther(t *testing.T) {
	usb, cable := wordOf("usb"), wordOf("cable")
	like := block.Word{Norm: 1, Fold: 1, Term: cable.Term ^ 1} // with the signature of cable
	to := &levels{found: map[uint64]search.Level{}, panic: true}
	s := scanFor(t, "usb cable", search.DefaultProfile(), to)
	var v block.View
	for i, value := range [][]byte{blockOf(1, search.Broad, usb, cable), blockOf(3, search.Phrase, usb, like), blockOf(5, search.Phrase, usb, cable)} {
		if err := v.Open(value); err != nil {
			t.Fatal(err)
		}
		if err := v.Sign(); err != nil {
			t.Fatal(err)
		}
		func() {
			defer func() {
				if caught := recover() != nil; caught != (i == 0) {
					t.Errorf("block %d panics: %t", i, caught)
				}
			}()
			s.visit(blockRef{view: &v}, 1, false)
		}()
	}
	if _, found := to.found[5]; !found || len(to.found) != 1 {
		t.Fatalf("after the damage %v were found", to.found)
	}
}

// BenchmarkScanBlock matches a block with 128 keywords and 150 words.
func BenchmarkScanBlock(b *testing.B) {
	var e block.Encoder
	texts := []string{"usb", "cable", "hub"}
	for i := range 147 {
		texts = append(texts, "word"+string(rune('a'+i%26))+string(rune('a'+i/26)))
	}
	for i := range 128 {
		list := []block.Word{wordOf("usb"), wordOf(texts[1+i*7%149]), wordOf(texts[1+i*13%149]), wordOf(texts[1+i*29%149])}
		if i%8 == 0 {
			list[1] = wordOf("cable")
		}
		e.Add(&block.Entry{
			Group: &block.Group{Key: uint64(i), ID: 1, Flags: block.GroupLive}, Keyword: uint64(i + 1), Type: uint8(i / 3 % 3),
			Quality: 5, Flags: block.Enabled, Words: list[:2+i%3],
		})
	}
	cached := index.NewPostingList(1, []*index.Block{index.NewBlock(1, kv.Place{}, e.Append(nil))}).Block(0)
	for name, p := range map[string]search.Profile{"default": search.DefaultProfile(), "sklik": search.SklikProfile()} {
		b.Run(name, func(b *testing.B) {
			s := scanFor(b, "cheap usb cable for phone", p, new(visits))
			b.ReportAllocs()
			for b.Loop() {
				s.visit(refOf(cached), 1, false)
			}
		})
	}
}
