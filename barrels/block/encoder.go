package block

import (
	"encoding/binary"

	"github.com/cespare/xxhash/v2"
)

// Encoder collects entries in ascending order of (group key, keyword) and writes
// them as one block. It keeps its scratch from block to block.
type Encoder struct {
	words    []Word
	index    wordIndex
	groups   []Group
	postings []posting
	refs     []uint16
	bounds   bounds
	live     uint16

	source *View    // the block of the last Copy
	remap  []uint16 // for each word of source its index in this block + 1; 0: not added yet
	from   Group    // the group of source that was copied last
	of     int      // that group's index in source; -1: another group was added since
	places []uint16 // final indexes of the words
}

// posting is an entry; its words are in refs, its group is in groups.
type posting struct {
	keyword, bid  uint64
	first, group  uint16
	kind          uint8 // match type + 16 × number of words
	quality, flag uint8
}

// Len is the number of entries collected.
func (e *Encoder) Len() int { return len(e.postings) }

// Reset forgets all entries.
func (e *Encoder) Reset() {
	e.words, e.groups = e.words[:0], e.groups[:0]
	e.postings, e.refs = e.postings[:0], e.refs[:0]
	e.bounds, e.live, e.source, e.of = bounds{}, 0, nil, -1
	e.index.reset()
}

// Add appends a new entry.
func (e *Encoder) Add(n *Entry) {
	first := len(e.refs)
	for i := range n.Words {
		e.refs = append(e.refs, e.word(n.Words[i]))
	}
	e.group(n.Group)
	e.of = -1
	e.posting(n.Group, posting{
		keyword: n.Keyword, bid: n.Bid, first: uint16(first), kind: n.Type | uint8(len(n.Words)<<4), quality: n.Quality, flag: n.Flags,
	})
}

// Copy appends the postings of a block from first to before end.
func (e *Encoder) Copy(v *View, first, end int) {
	if e.source != v {
		e.use(v)
	}
	for i := first; i < end; i++ {
		keyword, bid, g, quality, flags := v.Detail(i)
		if g != e.of {
			e.from, e.of = v.Group(g), g
			e.group(&e.from)
		}
		p := posting{keyword: keyword, bid: bid, first: uint16(len(e.refs)), quality: quality, flag: flags}
		kind, words := v.Posting(i)
		p.kind = uint8(kind) | uint8(words.Len()<<4)
		e.copyRefs(v, words)
		e.posting(&e.from, p)
	}
}

// copyRefs appends words of the source.
func (e *Encoder) copyRefs(v *View, words Refs) {
	for i := range words.Len() {
		w := words.At(i)
		if e.remap[w] == 0 {
			norm, fold, term := v.Word(w)
			e.remap[w] = e.word(Word{norm, fold, term}) + 1
		}
		e.refs = append(e.refs, e.remap[w]-1)
	}
}

// use makes v the source of copies. A view that is opened on other bytes needs a
// call of Reset first.
func (e *Encoder) use(v *View) {
	e.source, e.of = v, -1
	if n := v.Words(); cap(e.remap) < n {
		e.remap = make([]uint16, n)
	} else {
		e.remap = e.remap[:n]
		clear(e.remap)
	}
}

// posting appends a posting of the last group, and takes it into the bounds and the
// number of live ones.
func (e *Encoder) posting(g *Group, p posting) {
	p.group = uint16(len(e.groups) - 1)
	e.postings = append(e.postings, p)
	if p.flag&Enabled == 0 || g.Flags&GroupLive != GroupLive {
		return
	}
	e.live++
	if p.flag&HasBid != 0 {
		e.bounds.add(p.bid, p.quality, p.kind&15, &g.Modifiers, GroupFactor(g.Flags))
	}
}

// group makes g the group of what is appended next.
func (e *Encoder) group(g *Group) {
	if k := len(e.groups); k == 0 || e.groups[k-1].Key != g.Key {
		e.groups = append(e.groups, *g)
	}
}

func (e *Encoder) word(w Word) uint16 {
	i, found := e.index.find(w, e.words)
	if !found {
		e.words = append(e.words, w)
	}
	return i
}

// The table and vtable have the same places in every block: root offset, vtable
// of three fields, table. The vector of numbers follows, its first element at a
// multiple of 8, then that of columns.
const (
	vtableAt   = 4
	vtableSize = 4 + 2*3 + 2 // padded
	tableAt    = vtableAt + vtableSize
	layoutAt   = tableAt + 4 + 2*4
	headSize   = layoutAt + layoutSize // 52
)

// Append appends the block's value (bytes, format, checksum) to dst. There
// must be an entry.
func (e *Encoder) Append(dst []byte) []byte {
	start := len(dst)
	s := e.shape()
	dst = append(dst, header[:]...)
	dst = s.append(dst)
	dst = vector(dst, start, 0, s.numbers())
	dst = e.numbers(dst, &s)
	size := 0
	for c := range s.width {
		size += int(s.width[c]) * s.elements(c)
	}
	dst = vector(dst, start, 1, size)
	return seal(e.columns(dst, &s), start)
}

// shape finds the widths of the columns, and the places of the words: those whose
// fold has another hash than their norm are the last.
func (e *Encoder) shape() shape {
	s := shape{
		words: uint16(len(e.words)), groups: uint16(len(e.groups)), postings: uint16(len(e.postings)),
		refs: uint16(len(e.refs)), live: e.live, bounds: 1,
	}
	if e.bounds[0] != e.bounds[1] || e.bounds[1] != e.bounds[2] {
		s.bounds = devices
	}
	e.places = e.places[:0]
	alike := uint16(0)
	for i := range e.words {
		e.places = append(e.places, alike)
		if e.words[i].Fold == e.words[i].Norm {
			alike++
		}
	}
	s.folds = s.words - alike
	for i := range e.words {
		if e.words[i].Fold != e.words[i].Norm {
			e.places[i] = alike + uint16(i) - e.places[i]
		}
	}
	var largest [colWidths]uint64
	for i := range e.groups {
		g := &e.groups[i]
		largest[colID], largest[colCampaign] = largest[colID]|g.ID, largest[colCampaign]|g.Campaign
		largest[colAdvertiser] |= g.Advertiser
		for _, m := range g.Modifiers {
			if m != NotSet {
				largest[colModifiers] = NotSet
			}
		}
	}
	for i := range e.postings {
		p := &e.postings[i]
		largest[colKeyword], largest[colBid] = largest[colKeyword]|p.keyword, largest[colBid]|p.bid
	}
	last := &e.postings[len(e.postings)-1]
	largest[colFirst], largest[colGroup], largest[colRef] = uint64(last.first), uint64(last.group), max(2, uint64(alike+s.folds))-1
	for c := range largest {
		s.width[c] = widthOf(largest[c])
	}
	for c := colWidths; c < columns; c++ {
		s.width[c] = 1
	}
	return s
}

// numbers appends the numbers of 64 bits.
func (e *Encoder) numbers(dst []byte, s *shape) []byte {
	start, n := len(dst), int(s.words)
	dst = append(dst, make([]byte, 8*s.numbers())...)
	at := dst[start:]
	put := func(i int, number uint64) { binary.LittleEndian.PutUint64(at[8*i:], number) }
	for i := range e.words {
		w, place := &e.words[i], int(e.places[i])
		put(place, w.Norm)
		put(n+place, w.Term)
		if w.Fold != w.Norm {
			put(2*n+place-(n-int(s.folds)), w.Fold)
		}
	}
	groups := 2*n + int(s.folds)
	for i := range e.groups {
		put(groups+i, e.groups[i].Key)
	}
	for d, b := range e.bounds[:s.bounds] {
		put(groups+len(e.groups)+2*d, b.Own)
		put(groups+len(e.groups)+2*d+1, b.Inherited)
	}
	return dst
}

// columns appends the columns.
func (e *Encoder) columns(dst []byte, s *shape) []byte {
	for _, c := range order {
		w := int(s.width[c])
		for i := range s.elements(c) {
			var number [8]byte
			binary.LittleEndian.PutUint64(number[:], e.element(c, i))
			dst = append(dst, number[:w]...)
		}
	}
	return dst
}

// element returns the i-th element of a column.
func (e *Encoder) element(c, i int) uint64 {
	switch c {
	case colID:
		return e.groups[i].ID
	case colCampaign:
		return e.groups[i].Campaign
	case colAdvertiser:
		return e.groups[i].Advertiser
	case colModifiers:
		return uint64(e.groups[i/devices].Modifiers[i%devices])
	case colGroupFlags:
		return uint64(e.groups[i].Flags)
	case colRef:
		return uint64(e.places[e.refs[i]])
	}
	p := &e.postings[i]
	switch c {
	case colKeyword:
		return p.keyword
	case colBid:
		return p.bid
	case colFirst:
		return uint64(p.first)
	case colGroup:
		return uint64(p.group)
	case colKind:
		return uint64(p.kind)
	case colQuality:
		return uint64(p.quality)
	}
	return uint64(p.flag)
}

// vector starts the vector of a slot: padding, the table's offset to it, its
// length.
func vector(dst []byte, start, slot, n int) []byte {
	for (len(dst)-start)%8 != 4 {
		dst = append(dst, 0)
	}
	field := tableAt + 4 + 4*slot
	binary.LittleEndian.PutUint32(dst[start+field:], uint32(len(dst)-start-field))
	return binary.LittleEndian.AppendUint32(dst, uint32(n))
}

// header is the head of every block before its layout, offsets to vectors still
// missing.
var header = func() (h [layoutAt]byte) {
	le := binary.LittleEndian
	le.PutUint32(h[0:], tableAt)
	le.PutUint16(h[vtableAt:], 4+2*3)
	le.PutUint16(h[vtableAt+2:], headSize-tableAt)
	for slot := range 3 {
		le.PutUint16(h[vtableAt+4+2*slot:], uint16(4+4*slot))
	}
	le.PutUint32(h[tableAt:], tableAt-vtableAt)
	return h
}()

// seal appends format and checksum to the bytes from start on.
func seal(dst []byte, start int) []byte {
	dst = append(dst, Format)
	return binary.LittleEndian.AppendUint64(dst, xxhash.Sum64(dst[start:]))
}

// Seal returns FlatBuffers bytes as a block's value: with format and checksum.
func Seal(b []byte) []byte { return seal(append([]byte(nil), b...), 0) }
