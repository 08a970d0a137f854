package block

import (
	"encoding/binary"

	"adshard/search"
)

// AppendHead appends the canonical bytes of a posting before its words: its
// group, then keyword, bid, number of words, quality, type and flags.
func AppendHead(dst []byte, g *Group, keyword, bid uint64, words, quality, kind, flags uint8) []byte {
	dst = appendGroup(dst, g)
	dst = binary.LittleEndian.AppendUint64(dst, keyword)
	dst = binary.LittleEndian.AppendUint64(dst, bid)
	return append(dst, words, quality, kind, flags)
}

// AppendPosting appends the canonical bytes of posting i: what AppendHead
// gives, then its words in order, each its normalised, its folded form and its
// term. They do not depend on the rest of the block, so that two stores can be
// compared.
func (v *View) AppendPosting(dst []byte, i int) []byte {
	p := v.posting(i)
	g := int(u16(p, 18)) * groupSize
	dst = append(dst, v.groups[g:g+groupSize]...)
	dst = append(dst, p[:16]...)
	dst = append(dst, p[20:24]...)
	_, refs := v.Posting(i)
	for ; len(refs) >= 2; refs = refs[2:] {
		w := int(u16(refs, 0)) * wordSize
		dst = append(dst, v.words[w:w+wordSize]...)
	}
	return dst
}

// Bounded reports whether the block's bounds and its number of live postings
// allow for posting i, so that no search skips it wrongly.
func (v *View) Bounded(i int) bool {
	p := v.posting(i)
	g := v.Group(int(u16(p, 18)))
	if p[23]&Enabled == 0 || g.Flags&GroupLive != GroupLive {
		return true
	}
	if v.live == 0 {
		return false
	}
	if p[23]&HasBid == 0 {
		return true
	}
	var need bounds
	need.add(u64(p, 8), p[21], p[22], &g.Modifiers)
	for d := range need {
		b := v.Bound(search.Device(d))
		if b.Own < need[d].Own || b.Inherited < need[d].Inherited {
			return false
		}
	}
	return true
}
