package barrels

import (
	"encoding/binary"
	"slices"

	"adshard/barrels/block"
	"adshard/search/words"

	"github.com/cespare/xxhash/v2"
)

// pageEncoder collects keywords by rising id and writes them as a page. It
// keeps its scratch.
type pageEncoder struct {
	count     int
	last      uint64   // id of the keyword before
	languages []string // of the page's forms: the first keyword's
	bid       uint64   // what keywords have from their group; 0: not met yet
	words     int
	texts     []byte // the words
	keywords  []byte

	// index finds words: the last one with a hash of its own, then by before.
	index  map[uint64]int32
	known  []knownWord
	hashes []uint64 // of the known words: norm, fold, terms
	parts  [pageWords][]byte
	lower  []byte
}

// knownWord is a word of the page.
type knownWord struct {
	at, size int   // of its text in texts
	before   int32 // the word before it with the same norm; −1: none
}

func (e *pageEncoder) reset() {
	e.count, e.last, e.bid, e.words = 0, 0, 0, 0
	e.languages, e.texts, e.keywords = e.languages[:0], e.texts[:0], e.keywords[:0]
	e.known, e.hashes = e.known[:0], e.hashes[:0]
	if e.index == nil {
		e.index = make(map[uint64]int32)
	}
	clear(e.index)
}

// add appends a keyword.
func (e *pageEncoder) add(k *keywordData) {
	if e.count == 0 {
		for i := range k.forms {
			e.languages = append(e.languages, k.forms[i].language)
		}
	}
	e.count++
	e.keywords = binary.AppendUvarint(e.keywords, k.id-e.last)
	e.last = k.id
	n := len(k.norm)
	if k.whole != nil || n > pageWords || !k.sound() || k.kind > pageType || k.quality > 0xff>>pageQuality || !e.speaks(k) {
		e.addWhole(k)
		return
	}
	head := [2]byte{k.kind | k.quality<<pageQuality, byte(n)}
	if k.flags&block.Enabled != 0 {
		head[0] |= pageEnabled
	}
	if k.flags&fromGroup != 0 {
		head[0] |= pageGroups
	}
	if k.flags&block.HasBid != 0 {
		head[1] |= pageHasBid
		if e.shared(k) {
			head[1] |= pageBid
		}
	}
	plain := e.split(k.text, n)
	if !plain {
		head[1] |= pageText
	}
	e.keywords = append(e.keywords, head[0], head[1])
	if head[1]&(pageHasBid|pageBid) == pageHasBid {
		e.keywords = binary.AppendUvarint(e.keywords, k.bid)
	}
	for i := range n {
		e.keywords = binary.AppendUvarint(e.keywords, uint64(e.word(k, i)))
	}
	for i := range k.forms {
		e.keywords = append(e.keywords, byte(slices.Index(k.forms[i].terms, k.anchors[i])))
	}
	if !plain {
		e.keywords = append(binary.AppendUvarint(e.keywords, uint64(len(k.text))), k.text...)
	}
}

// addWhole appends a keyword that the page's form does not fit.
func (e *pageEncoder) addWhole(k *keywordData) {
	e.keywords = append(e.keywords, 0, pageWhole)
	e.keywords = binary.AppendUvarint(e.keywords, uint64(len(k.anchors)))
	e.keywords = appendHashes(e.keywords, k.anchors)
	record := k.appendRecord(nil)
	e.keywords = append(binary.AppendUvarint(e.keywords, uint64(len(record))), record...)
}

// speaks tells whether the keyword has the page's languages.
func (e *pageEncoder) speaks(k *keywordData) bool {
	return slices.EqualFunc(k.forms, e.languages, func(f formData, language string) bool { return f.language == language })
}

// shared tells whether the keyword has the page's bid: that of the first that
// has it from its group.
func (e *pageEncoder) shared(k *keywordData) bool {
	if e.bid == 0 && k.flags&fromGroup != 0 {
		e.bid = k.bid
	}
	return k.bid == e.bid && e.bid != 0
}

// split cuts a text into n words with one space between; false: it is not made
// so, and words go without their text.
func (e *pageEncoder) split(text []byte, n int) bool {
	clear(e.parts[:n])
	i, from := 0, 0
	for at := 0; at <= len(text); at++ {
		if at < len(text) && text[at] != ' ' {
			continue
		}
		if at == from || i == n {
			clear(e.parts[:n])
			return false
		}
		e.parts[i] = text[from:at]
		i, from = i+1, at+1
	}
	if i < n {
		clear(e.parts[:n])
	}
	return i == n
}

// word returns the index of a keyword's i-th word on the page.
func (e *pageEncoder) word(k *keywordData, i int) int {
	norm, text := k.norm[i], e.parts[i]
	first, met := e.index[norm]
	if !met {
		first = -1
	}
	for w := first; w >= 0; w = e.known[w].before {
		if e.same(k, i, int(w), text) {
			return int(w)
		}
	}
	at := len(e.known)
	e.index[norm] = int32(at)
	e.hashes = append(e.hashes, norm, k.fold[i])
	for j := range k.forms {
		e.hashes = append(e.hashes, k.forms[j].terms[i])
	}
	start := e.addWord(text, e.hashes[len(e.hashes)-2-len(k.forms):])
	e.known = append(e.known, knownWord{at: start, size: len(text), before: first})
	return at
}

// same tells whether a keyword's i-th word is the page's w-th.
func (e *pageEncoder) same(k *keywordData, i, w int, text []byte) bool {
	known := e.known[w]
	if string(e.texts[known.at:known.at+known.size]) != string(text) {
		return false
	}
	h := e.hashes[w*(2+len(e.languages)):]
	if h[1] != k.fold[i] {
		return false
	}
	for j := range k.forms {
		if h[2+j] != k.forms[j].terms[i] {
			return false
		}
	}
	return true
}

// addWord writes a new word; h are its norm, fold and terms. It returns where
// its text begins.
func (e *pageEncoder) addWord(text []byte, h []uint64) (start int) {
	e.words++
	flags, ascii := uint64(0), false
	if e.lower, ascii = appendLower(e.lower[:0], text); !ascii || words.HashBytes(e.lower) != h[0] {
		flags |= ownNorm
	}
	if h[1] != h[0] {
		flags |= ownFold
	}
	for j, language := range e.languages {
		if !ascii || words.TermBytes(language, e.lower) != h[2+j] {
			flags |= ownTerms
			break
		}
	}
	e.texts = binary.AppendUvarint(e.texts, uint64(len(text))<<wordFlags|flags)
	start = len(e.texts)
	e.texts = append(e.texts, text...)
	if flags&ownNorm != 0 {
		e.texts = binary.LittleEndian.AppendUint64(e.texts, h[0])
	}
	if flags&ownFold != 0 {
		e.texts = binary.LittleEndian.AppendUint64(e.texts, h[1])
	}
	if flags&ownTerms != 0 {
		e.texts = appendHashes(e.texts, h[2:])
	}
	return start
}

// appendTo appends the page's value.
func (e *pageEncoder) appendTo(dst []byte) []byte {
	start := len(dst)
	dst = binary.AppendUvarint(dst, uint64(e.count))
	dst = binary.AppendUvarint(dst, uint64(len(e.languages)))
	for _, l := range e.languages {
		dst = append(binary.AppendUvarint(dst, uint64(len(l))), l...)
	}
	dst = binary.AppendUvarint(dst, e.bid)
	dst = binary.AppendUvarint(dst, uint64(e.words))
	dst = append(binary.AppendUvarint(dst, uint64(len(e.texts))), e.texts...)
	dst = append(dst, e.keywords...)
	dst = append(dst, pageFormat)
	return binary.LittleEndian.AppendUint64(dst, xxhash.Sum64(dst[start:]))
}

// appendLower appends text in lower case; ascii: it is ASCII and not empty.
func appendLower(dst, text []byte) (out []byte, ascii bool) {
	ascii = len(text) > 0
	for _, b := range text {
		if b >= 0x80 {
			ascii = false
		}
		if 'A' <= b && b <= 'Z' {
			b += 'a' - 'A'
		}
		dst = append(dst, b)
	}
	return dst, ascii
}
