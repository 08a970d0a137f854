package block

import (
	"encoding/binary"

	"adshard/search"

	"github.com/cespare/xxhash/v2"
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
}

// Len is the number of entries collected.
func (e *Encoder) Len() int { return len(e.postings) / postingSize }

// Reset forgets all entries.
func (e *Encoder) Reset() {
	e.words, e.groups = e.words[:0], e.groups[:0]
	e.postings, e.refs = e.postings[:0], e.refs[:0]
	e.bounds, e.live, e.source = bounds{}, 0, nil
	e.index.reset()
}

// Add appends a new entry.
func (e *Encoder) Add(n *Entry) {
	first := len(e.refs) / 2
	for i := range n.Words {
		e.refs = binary.LittleEndian.AppendUint16(e.refs, e.word(n.Words[i]))
	}
	e.posting(n, n.Group, first, len(n.Words))
}

// Copy appends posting i of a block.
func (e *Encoder) Copy(v *View, i int) {
	if e.source != v {
		e.use(v)
	}
	p := v.posting(i)
	from, count := 2*int(u16(p, 16)), int(p[20])
	first := len(e.refs) / 2
	for j := range count {
		w := int(u16(v.refs, from+2*j))
		if e.remap[w] == 0 {
			norm, fold, term := v.Word(w)
			e.remap[w] = e.word(Word{norm, fold, term}) + 1
		}
		e.refs = binary.LittleEndian.AppendUint16(e.refs, e.remap[w]-1)
	}
	g := v.Group(int(u16(p, 18)))
	e.posting(&Entry{
		Keyword: u64(p, 0), Bid: u64(p, 8), Quality: p[21], Type: p[22], Flags: p[23],
	}, &g, first, count)
}

// use makes v the source of copies. A view that is opened on other bytes needs
// a call of Renew first.
func (e *Encoder) use(v *View) {
	e.source = v
	if n := v.Words(); cap(e.remap) < n {
		e.remap = make([]uint16, n)
	} else {
		e.remap = e.remap[:n]
		clear(e.remap)
	}
}

// Renew tells that views were opened on other bytes since the last Copy.
func (e *Encoder) Renew() { e.source = nil }

func (e *Encoder) posting(n *Entry, g *Group, first, count int) {
	if k := len(e.groups); k == 0 || e.groups[k-1].Key != g.Key {
		e.groups = append(e.groups, *g)
	}
	b := binary.LittleEndian.AppendUint64(e.postings, n.Keyword)
	b = binary.LittleEndian.AppendUint64(b, n.Bid)
	b = binary.LittleEndian.AppendUint16(b, uint16(first))
	b = binary.LittleEndian.AppendUint16(b, uint16(len(e.groups)-1))
	e.postings = append(b, byte(count), n.Quality, n.Type, n.Flags)
	if n.Flags&Enabled == 0 || g.Flags&GroupLive != GroupLive {
		return
	}
	e.live++
	if n.Flags&HasBid != 0 {
		e.bounds.add(n.Bid, n.Quality, n.Type, &g.Modifiers)
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
