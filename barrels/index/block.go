package index

import (
	"bytes"
	"encoding/binary"
	"sync/atomic"
	"unsafe"

	"github.com/cespare/xxhash/v2"

	"adshard/barrels/block"
	"adshard/barrels/kv"
	"adshard/search"
)

// Block is a block that is cached, made ready for searches: its
// postings gathered by words and match type, and by device what holds for each
// of them. A search waits for memory more than for anything else, so that what it
// reads of a block lies together, in the order in which it is read (pack), and
// what it reads of this struct in its first line of 64 bytes.
type Block struct {
	signatures []search.Signature // by class; rows and members lie behind them
	Impacts    [search.Devices]atomic.Pointer[Impacts]
	Postings   uint16
	prepared   bool
	Live       bool   // some posting is
	Term       uint64 // in its key

	Bounds   [search.Devices]block.Bound
	norms    []uint64 // of the rows that have no room for theirs
	View     block.View
	kv.Place // in its key
	bytes    int
}

// Class is a class: postings with the same words and match type. Its members end
// where the next class's begin.
type Class struct {
	posting uint16 // the first, whose words are the class's
	first   uint16 // of its members
	long    uint16 // where its norms begin in those of the block, if they are many
	words   uint8
	Type    search.MatchType
	norms   [rowNorms]uint64 // hashes of its normalised words, in order
}

// rowNorms is how many norms a row has room for, as few keywords have more.
const rowNorms = 3

// Member is a posting of a class, with what decides whether it is among the best.
type Member struct {
	Keyword, Advertiser uint64 // ids
	Posting             uint16
	// SeveralForms: the keyword has several forms, so that each is decided on by itself.
	SeveralForms bool
}

// blockOverhead is about what a block takes beside its postings.
const blockOverhead = 320

// NewBlock keeps a copy of a block's bytes, not yet ready; nil: they are
// damaged.
func NewBlock(term uint64, at kv.Place, value []byte) *Block {
	b := &Block{Term: term, Place: at}
	if b.View.Open(bytes.Clone(value)) != nil {
		return nil
	}
	for d := range b.Bounds {
		b.Bounds[d] = b.View.Bound(search.Device(d))
	}
	// A member with its impacts on two devices; three members to two classes, each
	// with its signature, its row and its summary on two devices.
	b.bytes = blockOverhead + len(value) + 90*b.View.Len()
	return b
}

// prepare makes m, which is empty, the block made ready for searches; false: it
// is damaged.
func (b *Block) prepare(m *Block) bool {
	m.prepared, m.Bounds, m.View, m.Term, m.Place, m.bytes = true, b.Bounds, b.View, b.Term, b.Place, b.bytes
	return m.gather()
}

// gathered is what gather finds of the classes.
type gathered struct {
	signatures []search.Signature
	rows       []Class
	norms      []uint64
	counts     []uint16 // of members
}

// gather finds the classes, in the order of their first postings; false: the
// block is damaged.
func (b *Block) gather() bool {
	v, n := &b.View, b.View.Len()
	if n > 1<<16-1 {
		return false
	}
	b.Live, b.Postings = v.Live() > 0, uint16(n)
	g, of, table := gathered{}, make([]uint16, n), newClassTable(n)
	for i := range n {
		s, err := v.Signature(i)
		if err != nil || v.GroupOf(i) >= v.Groups() {
			return false
		}
		kind, words := v.Posting(i)
		if kind >= search.MatchTypes {
			return false
		}
		c, found := table.find(v, g.rows, kind, words)
		if !found {
			g.add(v, i, s)
		}
		of[i] = c
		g.counts[c]++
	}
	if len(g.norms) > 1<<16-1 {
		return false
	}
	at := uint16(0)
	for c := range g.rows {
		g.rows[c].first, g.counts[c], at = at, at, at+g.counts[c]
	}
	members := b.pack(&g)
	for i := range n {
		at := g.counts[of[i]]
		members[at] = newMember(v, i)
		g.counts[of[i]]++
	}
	checkBlock(b)
	return true
}

// add adds the class of posting i.
func (g *gathered) add(v *block.View, i int, s search.Signature) {
	kind, words := v.Posting(i)
	r := Class{posting: uint16(i), words: uint8(len(words) / 2), Type: kind}
	norms := r.norms[:0]
	for ; len(words) >= 2; words = words[2:] {
		norm, _, _ := v.Word(int(binary.LittleEndian.Uint16(words)))
		norms = append(norms, norm)
	}
	if len(norms) > rowNorms {
		r.long = uint16(len(g.norms))
		g.norms = append(g.norms, norms...)
	}
	g.signatures, g.rows, g.counts = append(g.signatures, s), append(g.rows, r), append(g.counts, 0)
}

// pack moves signatures, rows and norms into one piece of memory, with room for
// the members behind the rows.
func (b *Block) pack(g *gathered) []Member {
	c, n := len(g.rows), int(b.Postings)
	room := make([]uint64, c+c*rowSize+n*memberSize+len(g.norms))
	b.signatures = unsafe.Slice((*search.Signature)(unsafe.Pointer(&room[0])), c)
	b.norms = room[len(room)-len(g.norms):]
	copy(b.signatures, g.signatures)
	copy(b.Classes(), g.rows)
	copy(b.norms, g.norms)
	return b.Members()
}

// Sizes in words of 64 bits.
const (
	rowSize    = int(unsafe.Sizeof(Class{}) / 8)
	memberSize = int(unsafe.Sizeof(Member{}) / 8)
)

// Classes returns the classes.
func (b *Block) Classes() []Class {
	c := len(b.signatures)
	return unsafe.Slice((*Class)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(b.signatures)), 8*c)), c)
}

// Members returns the members of all classes, class by class.
func (b *Block) Members() []Member {
	c := len(b.signatures)
	return unsafe.Slice((*Member)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(b.signatures)), 8*(c+c*rowSize))), int(b.Postings))
}

func newMember(v *block.View, i int) Member {
	keyword, _, group, _, flags := v.Detail(i)
	_, advertiser := v.GroupParents(group)
	return Member{
		Keyword: keyword, Advertiser: advertiser, Posting: uint16(i),
		SeveralForms: flags&(block.Several|block.Later) != 0,
	}
}

// classTable finds classes while they are gathered: open addressing.
type classTable []uint16 // index + 1; 0: free

func newClassTable(n int) classTable {
	size := 8
	for size < 2*n {
		size *= 2
	}
	return make(classTable, size)
}

// find returns the index of a class; when it is not there it takes the next
// index for it and the caller appends it.
func (t classTable) find(v *block.View, rows []Class, kind search.MatchType, words []byte) (uint16, bool) {
	for i := xxhash.Sum64(words) + uint64(kind); ; i++ {
		s := &t[i%uint64(len(t))]
		if *s == 0 {
			*s = uint16(len(rows) + 1)
			return uint16(len(rows)), false
		}
		if k, own := v.Posting(int(rows[*s-1].posting)); k == kind && bytes.Equal(own, words) {
			return *s - 1, true
		}
	}
}

// Range returns where a class's members begin and end.
func (b *Block) Range(class int) (first, end int) {
	rows := b.Classes()
	first, end = int(rows[class].first), int(b.Postings)
	if class+1 < len(rows) {
		end = int(rows[class+1].first)
	}
	return first, end
}

// Signatures returns for each class the union of the signatures of its words'
// terms; none: the block is not prepared.
func (b *Block) Signatures() []search.Signature { return b.signatures }

// Class returns the i-th class's match type and the vocabulary indexes of its
// words in order, as little-endian uint16.
func (b *Block) Class(i int) (search.MatchType, []byte) {
	return b.View.Posting(int(b.Classes()[i].posting))
}

// Norms returns the i-th class's match type and the hashes of its normalised words
// in order.
func (b *Block) Norms(i int) (search.MatchType, []uint64) {
	r := &b.Classes()[i]
	if r.words > rowNorms {
		return r.Type, b.norms[r.long : int(r.long)+int(r.words)]
	}
	return r.Type, r.norms[:r.words]
}

// room is the memory that a prepared block's signatures, classes and members lie
// in.
func (b *Block) room() []uint64 {
	n := len(b.signatures)
	return unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(b.signatures))), n+n*rowSize+int(b.Postings)*memberSize)
}
