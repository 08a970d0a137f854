package index

import (
	"encoding/binary"
	"sort"
	"unsafe"
)

// Texts are the ids and texts of a group's keywords, by ascending id, in one piece of memory: most keywords take two bytes more than
// their text.
type Texts struct {
	// data has for each keyword the difference of its id and the one before, the length of its text, both as varints, and the text.
	data string
	// marks are places in data, so that a search need not begin at the first keyword.
	marks []textMark
}

// textMark is the place of every markedKeywords-th keyword.
type textMark struct {
	id uint64 // of the keyword before it
	at uint32
}

// markedKeywords is the number of keywords from one mark to the next.
const markedKeywords = 64

// Of returns the text of the keyword with an id, or false if the group has no such keyword.
func (t *Texts) Of(keyword uint64) (string, bool) {
	id, rest := uint64(0), t.data
	if i := sort.Search(len(t.marks), func(i int) bool { return t.marks[i].id >= keyword }); i > 0 {
		id, rest = t.marks[i-1].id, rest[t.marks[i-1].at:]
	}
	for len(rest) > 0 && id < keyword {
		var delta, size uint64
		delta, rest = cutUvarint(rest)
		size, rest = cutUvarint(rest)
		if id += delta; id == keyword {
			return rest[:size], true
		}
		rest = rest[size:]
	}
	return "", false
}

// cutUvarint cuts a varint that binary.AppendUvarint wrote from the front.
func cutUvarint(from string) (v uint64, rest string) {
	for i, shift := 0, 0; ; i, shift = i+1, shift+7 {
		b := from[i]
		v |= uint64(b&0x7f) << shift
		if b < 0x80 {
			return v, from[i+1:]
		}
	}
}

// bytes returns the size of the ids and texts.
func (t *Texts) bytes() int { return len(t.data) + int(unsafe.Sizeof(textMark{}))*len(t.marks) }

// TextsBuilder collects ids and texts. Its buffer can be used again.
type TextsBuilder struct {
	data  []byte
	marks []textMark
	last  uint64
	count int
}

// Reset begins another collection.
func (b *TextsBuilder) Reset() {
	if cap(b.data) > maxKeptTexts {
		b.data = nil
	}
	b.data, b.marks, b.last, b.count = b.data[:0], b.marks[:0], 0, 0
}

// maxKeptTexts is the largest buffer that is kept for the next collection, in bytes.
const maxKeptTexts = 64 << 10

// Add adds a keyword. Its id must be above the one added before.
func (b *TextsBuilder) Add(id uint64, text []byte) {
	if b.count > 0 && b.count%markedKeywords == 0 {
		b.marks = append(b.marks, textMark{id: b.last, at: uint32(len(b.data))})
	}
	b.data = binary.AppendUvarint(b.data, id-b.last)
	b.data = append(binary.AppendUvarint(b.data, uint64(len(text))), text...)
	b.last = id
	b.count++
}

// Texts returns what was added.
func (b *TextsBuilder) Texts() Texts {
	return Texts{data: string(b.data), marks: append([]textMark(nil), b.marks...)}
}
