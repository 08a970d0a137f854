package block_test

import (
	"testing"

	"adshard/barrels/block"
	"adshard/search"
)

// FuzzView: opening and checking a block with a right checksum does not panic,
// whatever its bytes, and reading it does not panic if it passed the check.
func FuzzView(f *testing.F) {
	words := []block.Word{{Norm: 1, Fold: 2, Term: 3}, {Norm: 4, Fold: 4, Term: 5}}
	g := &block.Group{Key: 1, ID: 2, Flags: block.GroupLive}
	value := encode([]block.Entry{
		{Group: g, Keyword: 3, Bid: 5, Flags: block.Enabled | block.HasBid, Quality: 1, Words: words},
		{Group: g, Keyword: 4, Type: 2, Quality: 9, Words: words[:1]},
	})
	f.Add(value[:len(value)-9])
	wordless := encode([]block.Entry{{Group: g, Keyword: 3}, {Group: g, Keyword: 4}})
	f.Add(wordless[:len(wordless)-9])
	f.Add([]byte{})
	f.Add(make([]byte, 64))
	f.Fuzz(func(t *testing.T, raw []byte) {
		var v block.View
		_ = v.Open(raw)
		if v.Open(block.Seal(raw)) != nil || v.Check() != nil {
			return
		}
		var e block.Encoder
		e.Reset()
		for i := range v.Len() {
			_, refs := v.Posting(i)
			for j := range refs.Len() {
				v.Word(refs.At(j))
			}
			e.Copy(&v, i, i+1)
		}
		for d := range search.Device(search.Devices) {
			v.Bound(d).At(1000, search.Identical)
		}
		var again block.View
		if err := again.Open(e.Append(nil)); err != nil || again.Check() != nil || again.Len() != v.Len() {
			t.Fatalf("copied: %v", err)
		}
	})
}
