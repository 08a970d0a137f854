package barrels

import (
	"bytes"
	"encoding/binary"
	"sync/atomic"
	"unsafe"

	"adshard/barrels/block"
	"adshard/search"

	"github.com/cespare/xxhash/v2"
)

// termBlock is a block that is kept in memory, made ready for searches: its
// postings gathered by words and match type, and by device what holds for each
// of them. A search waits for memory more than for anything else, so that what it
// reads of a block lies together, in the order in which it is read (pack).
type termBlock struct {
	ready      bool
	live       bool               // some posting is
	signatures []search.Signature // by class
	classes    []class
	norms      []uint64 // hashes of the normalised words, class by class
	members    []member // class by class
	qualities  []uint8  // of the members
	judged     [search.Devices]atomic.Pointer[judgement]
	view       block.View
	place      // in its key
	bytes      int
}

// class is postings with the same words and match type. Its members end where
// the next class's begin.
type class struct {
	posting uint16 // the first, whose words are the class's
	first   uint16 // of members
	norms   uint16 // first of its words in norms
	count   uint8  // of its words
	kind    search.MatchType
}

// member is a posting of a class, with what tells whether it is among the best.
type member struct {
	keyword, advertiser uint64 // ids
	posting             uint16
	// special: the keyword has several forms, so that each is judged by itself.
	special bool
}

// blockOverhead is about what a block takes beside its postings.
const blockOverhead = 320

// newTermBlock keeps a copy of a block's bytes, not yet ready; nil: they are
// damaged.
func newTermBlock(at place, value []byte) *termBlock {
	b := &termBlock{place: at}
	if b.view.Open(bytes.Clone(value)) != nil {
		return nil
	}
	// A member with its quality and its worth on two devices; three members to two
	// classes, each with its signature, three norms and its sums on two devices.
	b.bytes = blockOverhead + len(value) + 90*b.view.Len()
	return b
}

// made returns the block made ready for searches; nil: it is damaged.
func (b *termBlock) made() *termBlock {
	m := &termBlock{ready: true, view: b.view, place: b.place, bytes: b.bytes}
	if !m.gather() {
		return nil
	}
	return m
}

// gather finds the classes, in the order of their first postings; false: the
// block is damaged.
func (b *termBlock) gather() bool {
	v, n := &b.view, b.view.Len()
	b.live = v.Live() > 0
	of, table := make([]uint16, n), newClassTable(n)
	counts := make([]uint16, 0, n)
	for i := range n {
		s, err := v.Signature(i)
		if err != nil || v.GroupOf(i) >= v.Groups() {
			return false
		}
		kind, words := v.Posting(i)
		c, found := table.find(b, kind, words)
		if !found {
			b.classes = append(b.classes, class{posting: uint16(i), norms: uint16(len(b.norms)), count: uint8(len(words) / 2), kind: kind})
			b.signatures, counts = append(b.signatures, s), append(counts, 0)
			for ; len(words) >= 2; words = words[2:] {
				norm, _, _ := v.Word(int(binary.LittleEndian.Uint16(words)))
				b.norms = append(b.norms, norm)
			}
		}
		of[i] = c
		counts[c]++
	}
	at := uint16(0)
	for c := range b.classes {
		b.classes[c].first, counts[c], at = at, at, at+counts[c]
	}
	b.pack(n)
	for i := range n {
		at := counts[of[i]]
		b.members[at], b.qualities[at] = newMember(v, i), v.Quality(i)
		counts[of[i]]++
	}
	return true
}

// pack moves signatures, classes and norms into one piece of memory with room for
// n members and their qualities behind them.
func (b *termBlock) pack(n int) {
	c, w := len(b.classes), len(b.norms)
	room := make([]uint64, 2*c+w+(n+7)/8+n*int(unsafe.Sizeof(member{})/8))
	signatures := unsafe.Slice((*search.Signature)(unsafe.Pointer(&room[0])), c)
	classes := unsafe.Slice((*class)(unsafe.Pointer(&room[c])), c) // of 8 bytes
	norms := room[2*c : 2*c+w : 2*c+w]
	copy(signatures, b.signatures)
	copy(classes, b.classes)
	copy(norms, b.norms)
	b.signatures, b.classes, b.norms = signatures, classes, norms
	b.qualities = unsafe.Slice((*uint8)(unsafe.Pointer(&room[2*c+w])), n)
	b.members = unsafe.Slice((*member)(unsafe.Pointer(&room[2*c+w+(n+7)/8])), n)
}

func newMember(v *block.View, i int) member {
	keyword, _, group, _, flags := v.Detail(i)
	_, advertiser := v.GroupParents(group)
	return member{
		keyword: keyword, advertiser: advertiser, posting: uint16(i),
		special: flags&(block.Several|block.Later) != 0,
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
func (t classTable) find(b *termBlock, kind search.MatchType, words []byte) (uint16, bool) {
	for i := xxhash.Sum64(words) + uint64(kind); ; i++ {
		s := &t[i%uint64(len(t))]
		if *s == 0 {
			*s = uint16(len(b.classes) + 1)
			return uint16(len(b.classes)), false
		}
		if k, own := b.Class(int(*s - 1)); k == kind && bytes.Equal(own, words) {
			return *s - 1, true
		}
	}
}

// of returns where a class's members begin and end.
func (b *termBlock) of(class int) (first, end int) {
	first, end = int(b.classes[class].first), len(b.members)
	if class+1 < len(b.classes) {
		end = int(b.classes[class+1].first)
	}
	return first, end
}

// Len implements search.Block.
func (b *termBlock) Len() int { return len(b.members) }

// Signatures implements search.Block.
func (b *termBlock) Signatures() []search.Signature { return b.signatures }

// Class implements search.Block.
func (b *termBlock) Class(i int) (search.MatchType, []byte) {
	return b.view.Posting(int(b.classes[i].posting))
}

// Norms implements search.Block.
func (b *termBlock) Norms(i int) (search.MatchType, []uint64) {
	c := &b.classes[i]
	return c.kind, b.norms[c.norms : int(c.norms)+int(c.count)]
}

// Words implements search.Block.
func (b *termBlock) Words() int { return b.view.Words() }

// Word implements search.Block.
func (b *termBlock) Word(i int) (norm, fold, term uint64) { return b.view.Word(i) }
