package block

import (
	"encoding/binary"

	"github.com/cespare/xxhash/v2"
	flatbuffers "github.com/google/flatbuffers/go"

	"adshard/schema/fb"
	"adshard/search"
)

// Append appends the block's value (bytes, format, checksum) to dst. The encoder must have an
// entry.
func (e *Encoder) Append(dst []byte) []byte {
	if e.builder == nil {
		e.builder = flatbuffers.NewBuilder(8 << 10)
	}
	b := e.builder
	b.Reset()
	e.place()
	// Vectors built last come first in the bytes.
	references, wideReferences := e.buildReferences(b)
	postings, widePostings := e.buildPostings(b)
	modifiers := e.buildModifiers(b)
	groups, wideGroups := e.buildGroups(b)
	words, folds := e.buildWords(b)
	fb.BlockStart(b) // a field whose offset is 0 is left out
	fb.BlockAddLive(b, e.live)
	fb.BlockAddWords(b, words)
	fb.BlockAddFolds(b, folds)
	fb.BlockAddGroups(b, groups)
	fb.BlockAddWideGroups(b, wideGroups)
	fb.BlockAddModifiers(b, modifiers)
	fb.BlockAddPostings(b, postings)
	fb.BlockAddWidePostings(b, widePostings)
	fb.BlockAddReferences(b, references)
	fb.BlockAddWideReferences(b, wideReferences)
	e.addBounds(b)
	b.Finish(fb.BlockEnd(b))
	start := len(dst)
	return seal(append(dst, b.FinishedBytes()...), start)
}

// seal appends format and checksum to the bytes from start on.
func seal(dst []byte, start int) []byte {
	dst = append(dst, Format)
	return binary.LittleEndian.AppendUint64(dst, xxhash.Sum64(dst[start:]))
}

// Seal returns FlatBuffers bytes as a block's value, with format and checksum.
func Seal(b []byte) []byte { return seal(append([]byte(nil), b...), 0) }

// place assigns places to the words. Words whose fold and norm have different hashes come last.
func (e *Encoder) place() {
	e.places, e.order = e.places[:0], e.order[:0]
	for i := range e.words {
		if e.words[i].Fold == e.words[i].Norm {
			e.order = append(e.order, uint16(i))
		}
	}
	e.alike = len(e.order)
	for i := range e.words {
		if e.words[i].Fold != e.words[i].Norm {
			e.order = append(e.order, uint16(i))
		}
	}
	e.places = append(e.places, e.order...) // makes places as long as order
	for place, i := range e.order {
		e.places[i] = uint16(place)
	}
}

func (e *Encoder) buildWords(b *flatbuffers.Builder) (words, folds flatbuffers.UOffsetT) {
	if n := len(e.order) - e.alike; n > 0 {
		fb.BlockStartFoldsVector(b, n)
		for i := len(e.order) - 1; i >= e.alike; i-- {
			b.PrependUint64(e.words[e.order[i]].Fold)
		}
		folds = b.EndVector(n)
	}
	fb.BlockStartWordsVector(b, len(e.order))
	for i := len(e.order) - 1; i >= 0; i-- {
		w := &e.words[e.order[i]]
		fb.CreateWord(b, w.Norm, w.Term)
	}
	return b.EndVector(len(e.order)), folds
}

func (e *Encoder) buildReferences(b *flatbuffers.Builder) (narrow, wide flatbuffers.UOffsetT) {
	n := len(e.refs)
	if len(e.words) > narrowWords {
		fb.BlockStartWideReferencesVector(b, n)
		for i := n - 1; i >= 0; i-- {
			b.PrependUint16(e.places[e.refs[i]])
		}
		return 0, b.EndVector(n)
	}
	fb.BlockStartReferencesVector(b, n)
	for i := n - 1; i >= 0; i-- {
		b.PrependByte(byte(e.places[e.refs[i]]))
	}
	return b.EndVector(n), 0
}

func (e *Encoder) buildGroups(b *flatbuffers.Builder) (narrow, wide flatbuffers.UOffsetT) {
	n, all := len(e.groups), uint64(0)
	for i := range e.groups {
		g := &e.groups[i]
		all |= g.ID | g.Campaign | g.Advertiser
	}
	if all>>32 != 0 {
		fb.BlockStartWideGroupsVector(b, n)
		for i := n - 1; i >= 0; i-- {
			g := &e.groups[i]
			fb.CreateWideGroup(b, g.Key, g.ID, g.Campaign, g.Advertiser, uint8(g.Flags), uint8(GroupFactor(g.Flags)))
		}
		return 0, b.EndVector(n)
	}
	fb.BlockStartGroupsVector(b, n)
	for i := n - 1; i >= 0; i-- {
		g := &e.groups[i]
		fb.CreateGroup(b, g.Key, uint32(g.ID), uint32(g.Campaign), uint32(g.Advertiser), uint8(g.Flags), uint8(GroupFactor(g.Flags)))
	}
	return b.EndVector(n), 0
}

func (e *Encoder) buildModifiers(b *flatbuffers.Builder) flatbuffers.UOffsetT {
	none, n := true, len(e.groups)
	for i := range e.groups {
		none = none && e.groups[i].Modifiers == [devices]uint16{NotSet, NotSet, NotSet}
	}
	if none {
		return 0
	}
	fb.BlockStartModifiersVector(b, n)
	for i := n - 1; i >= 0; i-- {
		m := &e.groups[i].Modifiers
		fb.CreateModifiers(b, m[search.Desktop], m[search.Mobile], m[search.Tablet])
	}
	return b.EndVector(n)
}

func (e *Encoder) buildPostings(b *flatbuffers.Builder) (narrow, wide flatbuffers.UOffsetT) {
	n, all := len(e.postings), uint64(0)
	for i := range e.postings {
		p := &e.postings[i]
		all |= p.keyword | p.bid
	}
	if all>>32 != 0 {
		fb.BlockStartWidePostingsVector(b, n)
		for i := n - 1; i >= 0; i-- {
			p := &e.postings[i]
			fb.CreateWidePosting(b, p.first, p.group, p.kind, p.words, p.quality, p.flag, p.keyword, p.bid)
		}
		return 0, b.EndVector(n)
	}
	fb.BlockStartPostingsVector(b, n)
	for i := n - 1; i >= 0; i-- {
		p := &e.postings[i]
		fb.CreatePosting(b, p.first, p.group, p.kind, p.words, p.quality, p.flag, uint32(p.keyword), uint32(p.bid))
	}
	return b.EndVector(n), 0
}

// addBounds adds the bounds. Those of mobile and tablet are added only if they differ.
func (e *Encoder) addBounds(b *flatbuffers.Builder) {
	all := e.bounds[search.Desktop]
	if t := e.bounds[search.Tablet]; t != all {
		fb.BlockAddTablet(b, fb.CreateBound(b, t.Own, t.Inherited))
	}
	if m := e.bounds[search.Mobile]; m != all {
		fb.BlockAddMobile(b, fb.CreateBound(b, m.Own, m.Inherited))
	}
	fb.BlockAddBound(b, fb.CreateBound(b, all.Own, all.Inherited))
}
