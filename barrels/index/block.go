package index

import (
	"bytes"
	"slices"
	"sync/atomic"
	"unsafe"

	"adshard/barrels/block"
	"adshard/barrels/kv"
	"adshard/search"
)

// Block is a cached block prepared for searches: its postings grouped by words and match type, with
// their impacts by device. Searches are bound by memory latency, so the parts that a search reads
// lie together in the order in which it reads them (pack), and the fields of this struct that it
// reads are in its first 64-byte line.
type Block struct {
	signatures []search.Signature // one per class; classes, members and the block's bytes follow in memory
	Impacts    [search.Devices]atomic.Pointer[Impacts]
	Postings   uint8
	prepared   bool
	Live       bool   // whether any posting is live
	BidRatio   uint8  // block.View.BidRatio of a prepared block, otherwise the lowest ratio
	bytes      uint32 // the memory that the block takes, without impacts
	Term       uint64 // term in the block's key

	View     block.View
	kv.Place // place in the block's key
	hosts    atomic.Pointer[groupHosts]
}

// Class is a class: postings with the same words and match type. Its members end where those of the
// next class begin.
type Class struct {
	posting uint8 // its first posting, whose words are those of the class
	first   uint8 // index of its first member
	Type    search.MatchType
}

// Indexes of postings and members, and numbers of members, have 8 bits.
const _ = uint8(block.Max)

// NewBlock copies a block's bytes without preparing the block. It returns nil if they are damaged.
func NewBlock(term uint64, at kv.Place, value []byte) *Block {
	b := &Block{Term: term, Place: at}
	if b.View.Open(bytes.Clone(value)) != nil {
		return nil
	}
	b.measure()
	return b
}

// measure records what the block's bytes say about the block as a whole.
func (b *Block) measure() {
	b.BidRatio = block.LeastBidRatio
	n := b.View.Len() // upper bound of the number of classes
	b.weigh(slabSize(n, n, len(b.View.Bytes())))
}

// weigh records the memory that the block takes with a slab of 64-bit words. Go's allocator rounds
// up.
func (b *Block) weigh(slab int) { b.bytes = uint32(int(unsafe.Sizeof(*b)) + 8*(slab+slab/16)) }

// prepare fills the empty block m with this block, prepared for searches. It returns false if the
// block is damaged.
func (b *Block) prepare(m *Block) bool {
	m.prepared, m.View, m.Term, m.Place, m.bytes = true, b.View, b.Term, b.Place, b.bytes
	return m.gather()
}

// gathered holds the classes that gather finds. It is on the stack, since most blocks are small.
type gathered struct {
	n          int               // classes
	alike      [block.Max]uint32 // View.Alike of their postings
	signatures [block.Max]search.Signature
	classes    [block.Max]Class
	counts     [block.Max]uint8  // numbers of members
	of         [block.Max]uint16 // the class of each posting
	table      [512]uint16       // hash table with open addressing: index of a class + 1; 0 if free
}

// gather finds the classes, in the order of their first postings. It returns false if the block is
// damaged.
func (b *Block) gather() bool {
	v, n := &b.View, b.View.Len()
	b.Live, b.Postings = v.Live() > 0, uint8(n)
	var g gathered
	for i := range n {
		c, found := g.find(v.Alike(i))
		if !found {
			s, err := v.Signature(i)
			if err != nil || v.Type(i) >= search.MatchTypes {
				return false
			}
			g.signatures[c], g.classes[c] = s, Class{posting: uint8(i), Type: v.Type(i)}
		}
		if v.GroupOf(i) >= v.Groups() {
			return false
		}
		g.of[i] = c
		g.counts[c]++
	}
	at := uint8(0)
	for c := range g.n {
		g.classes[c].first, g.counts[c], at = at, at, at+g.counts[c]
	}
	b.BidRatio = v.BidRatio() // gather has just read the postings
	members := b.pack(&g)
	for i := range n {
		at := &g.counts[g.of[i]]
		members[*at] = uint8(i)
		*at++
	}
	checkBlock(b)
	return true
}

// find returns the index of the class with a number (View.Alike), and whether it was there before.
func (g *gathered) find(alike uint32) (class uint16, found bool) {
	const size = uint32(len(g.table))
	for i := alike * 0x9e3779b1 >> 16 % size; ; i = (i + 1) % size {
		switch c := g.table[i]; {
		case c == 0:
			g.alike[g.n] = alike
			g.n++
			g.table[i] = uint16(g.n)
			return uint16(g.n - 1), false
		case g.alike[c-1] == alike:
			return c - 1, true
		}
	}
}

// slabSize returns the number of 64-bit words in a prepared block's slab.
func slabSize(classes, postings, bytes int) int {
	return classes + (int(unsafe.Sizeof(Class{}))*classes+postings+bytes+7)/8
}

// pack moves signatures, classes and the block's bytes into one piece of memory,
// with room for the members.
func (b *Block) pack(g *gathered) []uint8 {
	c, n := g.n, int(b.Postings)
	value := b.View.Bytes()
	slab := make([]uint64, slabSize(c, n, len(value)))
	b.weigh(len(slab))
	b.signatures = unsafe.Slice((*search.Signature)(unsafe.Pointer(&slab[0])), c)
	copy(b.signatures, g.signatures[:c])
	copy(b.Classes(), g.classes[:c])
	own := unsafe.Slice((*byte)(b.behind(c, n)), len(value))
	copy(own, value)
	b.View.Move(own)
	return b.Members()
}

// behind returns the address after the given numbers of classes and members.
func (b *Block) behind(classes, members int) unsafe.Pointer {
	return unsafe.Add(unsafe.Pointer(unsafe.SliceData(b.signatures)),
		8*len(b.signatures)+int(unsafe.Sizeof(Class{}))*classes+members)
}

// Classes returns the classes.
func (b *Block) Classes() []Class {
	return unsafe.Slice((*Class)(b.behind(0, 0)), len(b.signatures))
}

// Members returns the postings of all classes, class by class.
func (b *Block) Members() []uint8 {
	return unsafe.Slice((*uint8)(b.behind(len(b.signatures), 0)), int(b.Postings))
}

// Advertiser returns the id of a posting's advertiser.
func (b *Block) Advertiser(posting int) uint64 {
	_, advertiser := b.View.GroupParents(b.View.GroupOf(posting))
	return advertiser
}

// SeveralForms reports whether a posting's keyword has several forms, so that each of its postings
// is decided separately.
func (b *Block) SeveralForms(posting int) bool {
	return b.View.Flags(posting)&(block.Several|block.Later) != 0
}

// Range returns the range of a class's members.
func (b *Block) Range(class int) (first, end int) {
	rows := b.Classes()
	first, end = int(rows[class].first), int(b.Postings)
	if class+1 < len(rows) {
		end = int(rows[class+1].first)
	}
	return first, end
}

// Signatures returns, for each class, the union of its words' term signatures, or nil if the block
// is not prepared.
func (b *Block) Signatures() []search.Signature { return b.signatures }

// Class returns the match type and the words of the i-th class.
func (b *Block) Class(i int) (search.MatchType, block.Refs) {
	return b.View.Posting(int(b.Classes()[i].posting))
}

// Norms appends the hashes of the i-th class's normalised words, in order. It returns the match
// type and the hashes.
func (b *Block) Norms(i int, dst []uint64) (search.MatchType, []uint64) {
	kind, words := b.Class(i)
	for j := range words.Len() {
		dst = append(dst, b.View.Norm(words.At(j)))
	}
	return kind, dst
}

// sameClasses reports whether two prepared blocks have the same classes with the same members. It
// does not compare memory byte by byte, since some bytes between classes are never set.
func (b *Block) sameClasses(c *Block) bool {
	return b.Postings == c.Postings && b.Live == c.Live && b.BidRatio == c.BidRatio && slices.Equal(b.signatures, c.signatures) &&
		slices.Equal(b.Classes(), c.Classes()) && slices.Equal(b.Members(), c.Members())
}
