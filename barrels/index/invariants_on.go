//go:build invariants

package index

import (
	"bytes"
	"fmt"
	"slices"
	"unsafe"
)

// Builds with the tag invariants check memory that is laid out with unsafe. The race and fuzz runs
// of the tests use it.

// checkBlock panics if the memory of a prepared block is not laid out as its accessors expect:
// signatures, classes, members, the block's bytes, with members grouped by class and each posting
// present once.
func checkBlock(b *Block) {
	n := len(b.signatures)
	classes, members, slab := b.Classes(), b.Members(), b.slab()
	assert(len(classes) == n && len(members) == int(b.Postings), "%d classes, %d members", len(classes), len(members))
	assert(unsafe.Pointer(unsafe.SliceData(b.View.Bytes())) == unsafe.Add(unsafe.Pointer(unsafe.SliceData(slab)), len(slab)), "the block's bytes lie elsewhere")
	inside(slab, unsafe.Pointer(unsafe.SliceData(classes)), uintptr(len(classes))*unsafe.Sizeof(Class{}))
	inside(slab, unsafe.Pointer(unsafe.SliceData(members)), uintptr(len(members)))
	seen, at := make(map[uint8]bool), 0
	for i := range classes {
		first, end := b.Range(i)
		assert(first == at && end > first && end <= len(members), "class %d has the members %d to %d", i, first, end)
		at = end
		for _, m := range members[first:end] {
			assert(int(m) < b.View.Len() && !seen[m], "posting %d is there twice, or not in the block", m)
			kind, words := b.View.Posting(int(m))
			classKind, own := b.Class(i)
			assert(kind == classKind && bytes.Equal(words.Key(), own.Key()), "posting %d is of a different class than %d", m, i)
			seen[m] = true
		}
	}
	assert(at == len(members), "%d of %d members belong to classes", at, len(members))
}

// slab returns the memory that holds a prepared block's signatures, classes and members.
func (b *Block) slab() []byte {
	begin := unsafe.Pointer(unsafe.SliceData(b.signatures))
	end := b.behind(len(b.signatures), int(b.Postings))
	return unsafe.Slice((*byte)(begin), uintptr(end)-uintptr(begin))
}

// CheckImpacts panics if the impacts of a block are not laid out as its accessors expect: each
// class's summary, then its impacts, one for each member, sorted.
func CheckImpacts(j *Impacts, b *Block) {
	assert(unsafe.Sizeof(Impacts{})%8 == 0 && unsafe.Sizeof(ClassImpact{})%8 == 0, "impacts are no multiple of 8 bytes")
	n := impactsSize + j.words(b)
	room := unsafe.Slice((*byte)(unsafe.Pointer(j)), 8*n)
	for i := range b.signatures {
		first, end := b.Range(i)
		class, ranked := j.Class(b, i), j.Ranked(b, i)
		inside(room, unsafe.Pointer(class), unsafe.Sizeof(*class))
		inside(room, unsafe.Pointer(unsafe.SliceData(ranked)), uintptr(8*len(ranked)))
		assert(len(ranked) == end-first, "class %d of %d members has %d impacts", i, end-first, len(ranked))
		dominated := false
		for k, e := range ranked {
			assert(slices.Contains(b.Members()[first:end], uint8(e.Posting())), "an impact of class %d is of posting %d", i, e.Posting())
			behind := e&Dominated != 0
			assert(behind || !dominated, "an impact of class %d stands behind a dominated one", i)
			assert(e.Profile() == NoProfile || e.Profile() < j.profiles(), "an impact of class %d has profile %d of %d", i, e.Profile(), j.profiles())
			assert(e.Product() <= j.Max(b, i), "an impact of class %d is above its maximum", i)
			assert(k == 0 || behind != dominated || ranked[k-1].Product() >= e.Product(), "the impacts of class %d are not sorted", i)
			dominated = behind
		}
	}
}

// inside panics if size bytes at an address do not lie within room.
func inside(room []byte, at unsafe.Pointer, size uintptr) {
	if size == 0 {
		return
	}
	begin := uintptr(unsafe.Pointer(unsafe.SliceData(room)))
	end := begin + uintptr(len(room))
	assert(uintptr(at) >= begin && uintptr(at)+size <= end, "%d bytes lie outside of their memory", size)
}

func assert(holds bool, format string, args ...any) {
	if !holds {
		panic("barrels/index: invariant: " + fmt.Sprintf(format, args...))
	}
}
