package block

import (
	"encoding/binary"

	"adshard/search"
)

// AppendHead appends the canonical bytes of a posting without its words: its group, then keyword,
// bid, number of words, quality, type and flags.
func AppendHead(dst []byte, g *Group, keyword, bid uint64, words, quality, kind, flags uint8) []byte {
	dst = appendGroup(dst, g)
	dst = binary.LittleEndian.AppendUint64(dst, keyword)
	dst = binary.LittleEndian.AppendUint64(dst, bid)
	return append(dst, words, quality, kind, flags)
}

// AppendPosting appends the canonical bytes of posting i: those of AppendHead, then for each word
// in order its normalised form, its folded form and its term. They do not depend on the rest of the
// block, so two stores can be compared.
func (v *View) AppendPosting(dst []byte, i int) []byte {
	keyword, bid, at, quality, flags := v.Detail(i)
	kind, words := v.Posting(i)
	g := v.Group(at)
	dst = AppendHead(dst, &g, keyword, bid, uint8(words.Len()), quality, uint8(kind), flags)
	for i := range words.Len() {
		norm, fold, term := v.Word(words.At(i))
		dst = appendU64(dst, norm, fold, term)
	}
	return dst
}

// Bounded reports whether the block's bounds and its number of live postings allow for posting i,
// so that no search skips it by mistake.
func (v *View) Bounded(i int) bool {
	_, bid, at, quality, flags := v.Detail(i)
	g := v.Group(at)
	if flags&Enabled == 0 || g.Flags&GroupLive != GroupLive {
		return true
	}
	if v.Live() == 0 {
		return false
	}
	if flags&HasBid == 0 {
		return true
	}
	var need bounds
	need.add(bid, quality, uint8(v.Type(i)), &g.Modifiers, GroupFactor(g.Flags))
	for d := range need {
		b := v.Bound(search.Device(d))
		if b.Own < need[d].Own || b.Inherited < need[d].Inherited {
			return false
		}
	}
	return true
}

func appendGroup(dst []byte, g *Group) []byte {
	dst = appendU64(dst, g.Key, g.ID, g.Campaign, g.Advertiser)
	for _, m := range g.Modifiers {
		dst = binary.LittleEndian.AppendUint16(dst, m)
	}
	return binary.LittleEndian.AppendUint16(dst, g.Flags)
}

func appendU64(dst []byte, values ...uint64) []byte {
	for _, v := range values {
		dst = binary.LittleEndian.AppendUint64(dst, v)
	}
	return dst
}
