package barrels

import (
	"bytes"
	"encoding/binary"
	"sync/atomic"
	"unsafe"

	"adshard/barrels/block"
	"adshard/barrels/kv"
	"adshard/search"

	"github.com/cespare/xxhash/v2"
)

// termBlock is a block that is kept in memory, made ready for searches: its
// postings gathered by words and match type, and by device what holds for each
// of them. A search waits for memory more than for anything else, so that what it
// reads of a block lies together, in the order in which it is read (pack), and
// what it reads of this struct in its first line of 64 bytes.
type termBlock struct {
	signatures []search.Signature // by class; rows and members lie behind them
	judged     [search.Devices]atomic.Pointer[judgement]
	postings   uint16
	ready      bool
	live       bool   // some posting is
	term       uint64 // in its key

	bounds   [search.Devices]block.Bound
	norms    []uint64 // of the rows that have no room for theirs
	view     block.View
	kv.Place // in its key
	bytes    int
}

// row is a class: postings with the same words and match type. Its members end
// where the next class's begin.
type row struct {
	posting uint16 // the first, whose words are the class's
	first   uint16 // of its members
	long    uint16 // where its norms begin in those of the block, if they are many
	words   uint8
	kind    search.MatchType
	norms   [rowNorms]uint64 // hashes of its normalised words, in order
}

// rowNorms is how many norms a row has room for, as few keywords have more.
const rowNorms = 3

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
func newTermBlock(term uint64, at kv.Place, value []byte) *termBlock {
	b := &termBlock{term: term, Place: at}
	if b.view.Open(bytes.Clone(value)) != nil {
		return nil
	}
	for d := range b.bounds {
		b.bounds[d] = b.view.Bound(search.Device(d))
	}
	// A member with its entry in two judgements; three members to two classes, each
	// with its signature, its row and its sum in two judgements.
	b.bytes = blockOverhead + len(value) + 90*b.view.Len()
	return b
}

// makeReady makes m, which is empty, the block made ready for searches; false: it
// is damaged.
func (b *termBlock) makeReady(m *termBlock) bool {
	m.ready, m.bounds, m.view, m.term, m.Place, m.bytes = true, b.bounds, b.view, b.term, b.Place, b.bytes
	return m.gather()
}

// gathered is what gather finds of the classes.
type gathered struct {
	signatures []search.Signature
	rows       []row
	norms      []uint64
	counts     []uint16 // of members
}

// gather finds the classes, in the order of their first postings; false: the
// block is damaged.
func (b *termBlock) gather() bool {
	v, n := &b.view, b.view.Len()
	if n > 1<<16-1 {
		return false
	}
	b.live, b.postings = v.Live() > 0, uint16(n)
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
	return true
}

// add adds the class of posting i.
func (g *gathered) add(v *block.View, i int, s search.Signature) {
	kind, words := v.Posting(i)
	r := row{posting: uint16(i), words: uint8(len(words) / 2), kind: kind}
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
func (b *termBlock) pack(g *gathered) []member {
	c, n := len(g.rows), int(b.postings)
	room := make([]uint64, c+c*rowSize+n*memberSize+len(g.norms))
	b.signatures = unsafe.Slice((*search.Signature)(unsafe.Pointer(&room[0])), c)
	b.norms = room[len(room)-len(g.norms):]
	copy(b.signatures, g.signatures)
	copy(b.rows(), g.rows)
	copy(b.norms, g.norms)
	return b.members()
}

// Sizes in words of 64 bits.
const (
	rowSize    = int(unsafe.Sizeof(row{}) / 8)
	memberSize = int(unsafe.Sizeof(member{}) / 8)
)

// rows returns the classes.
func (b *termBlock) rows() []row {
	c := len(b.signatures)
	return unsafe.Slice((*row)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(b.signatures)), 8*c)), c)
}

// members returns the members of all classes, class by class.
func (b *termBlock) members() []member {
	c := len(b.signatures)
	return unsafe.Slice((*member)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(b.signatures)), 8*(c+c*rowSize))), int(b.postings))
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
func (t classTable) find(v *block.View, rows []row, kind search.MatchType, words []byte) (uint16, bool) {
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

// of returns where a class's members begin and end.
func (b *termBlock) of(class int) (first, end int) {
	rows := b.rows()
	first, end = int(rows[class].first), int(b.postings)
	if class+1 < len(rows) {
		end = int(rows[class+1].first)
	}
	return first, end
}

// Len implements search.Block.
func (b *termBlock) Len() int { return int(b.postings) }

// Signatures implements search.Block.
func (b *termBlock) Signatures() []search.Signature { return b.signatures }

// Class implements search.Block.
func (b *termBlock) Class(i int) (search.MatchType, []byte) {
	return b.view.Posting(int(b.rows()[i].posting))
}

// Norms implements search.Block.
func (b *termBlock) Norms(i int) (search.MatchType, []uint64) {
	r := &b.rows()[i]
	if r.words > rowNorms {
		return r.kind, b.norms[r.long : int(r.long)+int(r.words)]
	}
	return r.kind, r.norms[:r.words]
}

// Words implements search.Block.
func (b *termBlock) Words() int { return b.view.Words() }

// Word implements search.Block.
func (b *termBlock) Word(i int) (norm, fold, term uint64) { return b.view.Word(i) }
