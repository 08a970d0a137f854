//go:build invariants

package index

import (
	"fmt"
	"unsafe"
)

// Builds with the tag invariants check what unsafe lays out: the race and fuzz
// runs of the tests use it.

// checkBlock panics when the memory of a prepared block is not laid out as its
// accessors read it: signatures, classes, members, long norms; members class by
// class; each posting once.
func checkBlock(b *Block) {
	assert(unsafe.Sizeof(Class{})%8 == 0 && unsafe.Sizeof(Member{})%8 == 0, "the size of a class or a member is not a multiple of 8 bytes")
	n := len(b.signatures)
	room := b.room()
	assert(len(room) == n+n*rowSize+int(b.Postings)*memberSize, "the room of a block is %d words", len(room))
	classes, members := b.Classes(), b.Members()
	assert(len(classes) == n && len(members) == int(b.Postings), "%d classes, %d members", len(classes), len(members))
	inside(room, unsafe.Pointer(unsafe.SliceData(classes)), uintptr(len(classes))*unsafe.Sizeof(Class{}))
	inside(room, unsafe.Pointer(unsafe.SliceData(members)), uintptr(len(members))*unsafe.Sizeof(Member{}))
	seen, at := make(map[uint16]bool), 0
	for i := range classes {
		first, end := b.Range(i)
		assert(first == at && end > first && end <= len(members), "class %d has the members %d to %d", i, first, end)
		at = end
		if classes[i].words > rowNorms {
			assert(int(classes[i].long)+int(classes[i].words) <= len(b.norms), "class %d has norms beyond the block's", i)
		}
		for _, m := range members[first:end] {
			assert(int(m.Posting) < b.View.Len() && !seen[m.Posting], "posting %d is there twice, or not in the block", m.Posting)
			assert(m.Keyword == b.View.Keyword(int(m.Posting)), "member %d is keyword %d", m.Posting, m.Keyword)
			seen[m.Posting] = true
		}
	}
	assert(at == len(members), "%d of %d members belong to classes", at, len(members))
}

// CheckImpacts panics when the impacts of a block are not laid out as its accessors
// read them: each class's summary, then its impacts, one for each member, sorted.
func CheckImpacts(j *Impacts, b *Block) {
	assert(unsafe.Sizeof(Impacts{})%8 == 0 && unsafe.Sizeof(ClassImpact{})%8 == 0, "impacts are no multiple of 8 bytes")
	n := impactsSize + classImpactSize*len(b.signatures) + int(b.Postings)
	room := unsafe.Slice((*uint64)(unsafe.Pointer(j)), n)
	for i := range b.signatures {
		first, end := b.Range(i)
		class, ranked := j.Class(b, i), j.Ranked(b, i)
		inside(room, unsafe.Pointer(class), unsafe.Sizeof(*class))
		inside(room, unsafe.Pointer(unsafe.SliceData(ranked)), uintptr(8*len(ranked)))
		assert(len(ranked) == end-first, "class %d of %d members has %d impacts", i, end-first, len(ranked))
		most, dominated := uint64(0), false
		for k, e := range ranked {
			assert(e.Member() >= first && e.Member() < end, "an impact of class %d is of member %d", i, e.Member())
			behind := e&Dominated != 0
			assert(behind || !dominated, "an impact of class %d stands behind a dominated one", i)
			assert(k == 0 || behind != dominated || ranked[k-1].Product() >= e.Product(), "the impacts of class %d are not sorted", i)
			most, dominated = max(most, e.Product()), behind
		}
		assert(class.Max == most, "the maximum of class %d is %d, not %d", i, class.Max, most)
	}
}

// inside panics when some bytes do not lie within a piece of memory.
func inside(room []uint64, at unsafe.Pointer, size uintptr) {
	if size == 0 {
		return
	}
	begin := uintptr(unsafe.Pointer(unsafe.SliceData(room)))
	end := begin + uintptr(8*len(room))
	assert(uintptr(at) >= begin && uintptr(at)+size <= end, "%d bytes lie outside of their memory", size)
}

func assert(holds bool, format string, args ...any) {
	if !holds {
		panic("barrels/index: invariant: " + fmt.Sprintf(format, args...))
	}
}
