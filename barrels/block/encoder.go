package block

import (
	"encoding/binary"

	"github.com/cespare/xxhash/v2"

	"adshard/search"
)

// Encoder collects entries in rising order of (group key, keyword) and writes
// them as one block. It keeps its scratch from block to block.
type Encoder struct {
	words    []Word
	index    wordIndex
	groups   []Group
	postings []byte
	refs     []byte
	bounds   bounds
	live     uint32

	source *View    // of the last Copy
	remap  []uint16 // its words here, +1; 0: not yet
	from   Group    // of the source, the last copied
	of     int      // its index there; -1: another one came since
}

// Len is the number of entries collected.
func (e *Encoder) Len() int { return len(e.postings) / postingSize }

// Reset forgets all entries.
func (e *Encoder) Reset() {
	e.words, e.groups = e.words[:0], e.groups[:0]
	e.postings, e.refs = e.postings[:0], e.refs[:0]
	e.bounds, e.live, e.source, e.of = bounds{}, 0, nil, -1
	e.index.reset()
}

// Add appends a new entry.
func (e *Encoder) Add(n *Entry) {
	first := len(e.refs) / 2
	for i := range n.Words {
		e.refs = binary.LittleEndian.AppendUint16(e.refs, e.word(n.Words[i]))
	}
	e.posting(n, first, len(n.Words))
}

// Copy appends the postings of a block from first to before end.
func (e *Encoder) Copy(v *View, first, end int) {
	if e.source != v {
		e.use(v)
	}
	for i := first; i < end; i++ {
		p := v.posting(i)
		if g := int(u16(p, 18)); g != e.of {
			e.from, e.of = v.Group(g), g
			e.group(&e.from)
		}
		at, start := len(e.postings), len(e.refs)/2
		e.copyRefs(v, 2*int(u16(p, 16)), int(p[20]))
		e.postings = append(e.postings, p...)
		binary.LittleEndian.PutUint16(e.postings[at+16:], uint16(start))
		binary.LittleEndian.PutUint16(e.postings[at+18:], uint16(len(e.groups)-1))
		e.count(&e.from, u64(p, 8), p[21], p[22], p[23])
	}
}

// copyRefs appends so many words of the source, whose refs begin there.
func (e *Encoder) copyRefs(v *View, from, count int) {
	refs := v.refs[from : from+2*count]
	for ; len(refs) >= 2; refs = refs[2:] {
		w := u16(refs, 0)
		if e.remap[w] == 0 {
			norm, fold, term := v.Word(int(w))
			e.remap[w] = e.word(Word{norm, fold, term}) + 1
		}
		e.refs = binary.LittleEndian.AppendUint16(e.refs, e.remap[w]-1)
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

func (e *Encoder) posting(n *Entry, first, count int) {
	e.group(n.Group)
	e.of = -1
	b := binary.LittleEndian.AppendUint64(e.postings, n.Keyword)
	b = binary.LittleEndian.AppendUint64(b, n.Bid)
	b = binary.LittleEndian.AppendUint16(b, uint16(first))
	b = binary.LittleEndian.AppendUint16(b, uint16(len(e.groups)-1))
	e.postings = append(b, byte(count), n.Quality, n.Type, n.Flags)
	e.count(n.Group, n.Bid, n.Quality, n.Type, n.Flags)
}

// group makes g the group of what is appended next.
func (e *Encoder) group(g *Group) {
	if k := len(e.groups); k == 0 || e.groups[k-1].Key != g.Key {
		e.groups = append(e.groups, *g)
	}
}

// count takes a posting into the bounds and the number of live ones.
func (e *Encoder) count(g *Group, bid uint64, quality, kind, flags uint8) {
	if flags&Enabled == 0 || g.Flags&GroupLive != GroupLive {
		return
	}
	e.live++
	if flags&HasBid != 0 {
		e.bounds.add(bid, quality, kind, &g.Modifiers)
	}
}

func (e *Encoder) word(w Word) uint16 {
	i, found := e.index.find(w, e.words)
	if !found {
		e.words = append(e.words, w)
	}
	return i
}

// The table and vtable have the same places in every block: root offset,
// vtable of six fields, table. Vectors follow, those of structs with their
// first element at a multiple of 8.
const (
	vtableAt   = 4
	vtableSize = 4 + 2*6
	tableAt    = vtableAt + vtableSize // 20
	tableSize  = 4 + 4*6
	headSize   = tableAt + tableSize // 48
)

// Append appends the block's value (bytes, format, checksum) to dst. There
// must be an entry.
func (e *Encoder) Append(dst []byte) []byte {
	start := len(dst)
	dst = append(dst, header[:]...)
	dst = e.vector(dst, start, 0, len(e.words))
	for _, w := range e.words {
		dst = appendU64(dst, w.Norm, w.Fold, w.Term)
	}
	dst = e.vector(dst, start, 1, len(e.groups))
	for i := range e.groups {
		dst = appendGroup(dst, &e.groups[i])
	}
	dst = append(e.vector(dst, start, 2, e.Len()), e.postings...)
	dst = append(e.vector(dst, start, 3, len(e.refs)/2), e.refs...)
	dst = e.vector(dst, start, 4, search.Devices)
	for _, b := range e.bounds {
		dst = appendU64(dst, b.Own, b.Inherited)
	}
	binary.LittleEndian.PutUint32(dst[start+tableAt+4*6:], e.live)
	return seal(dst, start)
}

// vector starts the vector of a slot: padding, the table's offset to it, its
// length.
func (e *Encoder) vector(dst []byte, start, slot, n int) []byte {
	for (len(dst)-start)%8 != 4 {
		dst = append(dst, 0)
	}
	field := tableAt + 4 + 4*slot
	binary.LittleEndian.PutUint32(dst[start+field:], uint32(len(dst)-start-field))
	return binary.LittleEndian.AppendUint32(dst, uint32(n))
}

// header is the head of every block, offsets to vectors still missing.
var header = func() (h [headSize]byte) {
	le := binary.LittleEndian
	le.PutUint32(h[0:], tableAt)
	le.PutUint16(h[vtableAt:], vtableSize)
	le.PutUint16(h[vtableAt+2:], tableSize)
	for slot := range 6 {
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

// Seal returns FlatBuffers bytes as a block's value: with format and checksum.
func Seal(b []byte) []byte { return seal(append([]byte(nil), b...), 0) }
