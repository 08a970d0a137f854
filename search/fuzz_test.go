package search_test

import (
	"testing"

	"adshard/backend"
	"adshard/search"
	"adshard/search/words"
)

// FuzzScanBlock: whatever bytes a posting has, a scan ends, calls back in
// bounds and finds no level that its rule does not reach.
func FuzzScanBlock(f *testing.F) {
	f.Add("usb cable", uint8(2), []byte{0, 0, 1, 0}, uint8(3), uint16(0))
	f.Add("cable usb cable", uint8(1), []byte{1, 0, 255, 255, 7}, uint8(1), uint16(0x7fff))
	f.Add("a b c d e f g h i j k l m n o p q r s t u v w x y z 0 1 2 3 4 5 6 7", uint8(9), make([]byte, 20), uint8(0), uint16(0xffff))
	f.Fuzz(func(t *testing.T, text string, kind uint8, posted []byte, reach uint8, flags uint16) {
		q, err := search.Expand(text, search.Synonym, nil)
		if err != nil || len(q.Words) == 0 {
			t.Skip()
		}
		var p search.Profile
		for i := range p {
			bits := flags >> (3 * i)
			p[i] = search.Rule{Others: bits&1 > 0, Ordered: bits&2 > 0, Adjacent: bits&4 > 0, Reach: search.Level(reach)}
		}
		b := &block{postings: []posting{{keyword: &backend.Keyword{Type: search.MatchType(kind)}, words: posted}}}
		split, _ := words.Split(text)
		for _, w := range split {
			b.vocabulary = append(b.vocabulary, word{words.Hash(w.Norm), words.Hash(w.Fold), words.TermOf("en", w.Fold)})
		}
		store := &naive{blocks: map[uint64][]*block{words.TermOf("en", split[0].Fold): {b}}}
		found := levels{}
		if _, err := search.Scan(t.Context(), q, p, store, found); err != nil {
			t.Fatal(err)
		}
		for _, l := range found {
			if l > search.Synonym || l > search.Level(reach) {
				t.Fatalf("level %v beyond reach %d", l, reach)
			}
		}
	})
}
