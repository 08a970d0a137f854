package query

import (
	"testing"

	"adshard/barrels/block"
	"adshard/barrels/index"
	"adshard/barrels/kv"
	"adshard/search"
)

// visits is a sink that counts blocks. If panics is set, it panics at the first
// one.
type visits struct {
	blocks int
	panics bool
}

func (v *visits) enter(blockRef, uint64) {
	if v.panics {
		panic("a bug")
	}
	v.blocks++
}

func (v *visits) match([]classRef) {}

// scanOf returns a scan that visits every block.
func scanOf(terms *index.Dictionary, lists *index.ListCache, to sink) *scan {
	sc := &scope{
		state: &index.Snapshot{Terms: terms}, request: new(search.Request), caches: &Engine{Lists: lists},
	}
	s := &scan{scope: sc, sink: to, deadBlocks: true}
	s.postings.scope, s.pruner.scope, s.off = sc, sc, true
	return s
}

// TestDamagedBlockInAList: a block whose damage shows only at its first visit is
// left out and reported each time; its neighbours are visited.
func TestDamagedBlockInAList(t *testing.T) {
	damaged := lateDamage(t)
	list := index.NewPostingList(1, []*index.Block{
		index.NewBlock(1, kv.Place{Key: 10}, onePosting(1)), index.NewBlock(1, kv.Place{Key: 20}, damaged),
		index.NewBlock(1, kv.Place{Key: 30}, onePosting(3)),
	})
	for range 3 {
		to := new(visits)
		s := scanOf(index.NewDictionary(0), index.NewListCache(alone(0)), to)
		if err := s.visitList(t.Context(), list); err != nil {
			t.Fatal(err)
		}
		if bad := s.scope.bad; to.blocks != 2 || len(bad) != 1 || bad[0] != (index.Interval{Lo: 20, Hi: 30}) || !s.scope.memory {
			t.Fatalf("%d blocks were visited, bad are %v", to.blocks, bad)
		}
	}
}

// TestAPanicOnASoundBlockIsADefect: a panic on a sound block is passed on to the
// caller, and what was kept of the term is dropped. A panic on damaged bytes is
// treated as damage.
func TestAPanicOnASoundBlockIsADefect(t *testing.T) {
	table := index.NewDictionary(0).Set(1, index.TermStats{Frequency: 1, Postings: 1})
	list := index.NewPostingList(1, []*index.Block{index.NewBlock(1, kv.Place{Key: 10}, onePosting(1))})
	lists := index.NewListCache(alone(1 << 20))
	lists.Put(table, 1, list)
	s := scanOf(table, lists, &visits{panics: true})
	func() {
		defer func() {
			if cause := recover(); cause != "a bug" {
				t.Errorf("recovered %v", cause)
			}
		}()
		_ = s.visitList(t.Context(), list)
	}()
	if kept := table.Peek(1, 1); len(s.scope.bad) > 0 || kept != nil {
		t.Errorf("bad: %v, cached: %v", s.scope.bad, kept)
	}
	damaged := index.NewBlock(1, kv.Place{Key: 20}, lateDamage(t))
	if s.visitSafely(refOf(damaged), 1, false) {
		t.Error("a damaged block counts as good")
	}
}

// lateDamage returns a block whose checksum and outline are right but whose
// content is not.
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

// onePosting returns a block of one posting whose keyword is the version.
func onePosting(version uint64) []byte {
	var e block.Encoder
	e.Add(&block.Entry{
		Group: &block.Group{Key: 1, ID: 1, Flags: block.GroupLive}, Keyword: version,
		Words: []block.Word{{Norm: 1, Fold: 1, Term: 1}},
	})
	return e.Append(nil)
}
