package page

import (
	"encoding/binary"
	"slices"

	"github.com/cespare/xxhash/v2"

	"adshard/barrels/block"
	"adshard/barrels/record"
	"adshard/search/words"
)

// Encoder collects keywords by ascending id and writes them as a page. It
// keeps its scratch.
type Encoder struct {
	count     int
	last      uint64   // id of the keyword before
	languages []string // of the page's forms: the first keyword's
	bid       uint64   // the bid of keywords with the group's default; 0: none yet
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

// Reset begins another page.
func (e *Encoder) Reset() {
	e.count, e.last, e.bid, e.words = 0, 0, 0, 0
	e.languages, e.texts, e.keywords = e.languages[:0], e.texts[:0], e.keywords[:0]
	e.known, e.hashes = e.known[:0], e.hashes[:0]
	if e.index == nil {
		e.index = make(map[uint64]int32)
	}
	clear(e.index)
}

// Add appends a keyword.
func (e *Encoder) Add(k *record.Keyword) {
	if e.count == 0 {
		for i := range k.Forms {
			e.languages = append(e.languages, k.Forms[i].Language)
		}
	}
	e.count++
	e.keywords = binary.AppendUvarint(e.keywords, k.ID-e.last)
	e.last = k.ID
	n := len(k.Norm)
	if k.Whole != nil || n > pageWords || !k.Sound() || k.Type > pageType || k.Quality > 0xff>>pageQuality || !e.speaks(k) {
		e.addWhole(k)
		return
	}
	head := [2]byte{k.Type | k.Quality<<pageQuality, byte(n)}
	if k.Flags&block.Enabled != 0 {
		head[0] |= pageEnabled
	}
	if k.Flags&record.BidFromGroup != 0 {
		head[0] |= pageGroups
	}
	if k.Flags&block.HasBid != 0 {
		head[1] |= pageHasBid
		if e.shared(k) {
			head[1] |= pageBid
		}
	}
	plain := e.split(k.Text, n)
	if !plain {
		head[1] |= pageText
	}
	e.keywords = append(e.keywords, head[0], head[1])
	if head[1]&(pageHasBid|pageBid) == pageHasBid {
		e.keywords = binary.AppendUvarint(e.keywords, k.Bid)
	}
	for i := range n {
		e.keywords = binary.AppendUvarint(e.keywords, uint64(e.word(k, i)))
	}
	for i := range k.Forms {
		e.keywords = append(e.keywords, byte(slices.Index(k.Forms[i].Terms, k.Anchors[i])))
	}
	if !plain {
		e.keywords = append(binary.AppendUvarint(e.keywords, uint64(len(k.Text))), k.Text...)
	}
}

// addWhole appends a keyword that the page's form does not fit.
func (e *Encoder) addWhole(k *record.Keyword) {
	e.keywords = append(e.keywords, 0, pageWhole)
	e.keywords = binary.AppendUvarint(e.keywords, uint64(len(k.Anchors)))
	e.keywords = record.AppendHashes(e.keywords, k.Anchors)
	record := k.AppendRecord(nil)
	e.keywords = append(binary.AppendUvarint(e.keywords, uint64(len(record))), record...)
}

// speaks reports whether the keyword is in the page's languages.
func (e *Encoder) speaks(k *record.Keyword) bool {
	return slices.EqualFunc(k.Forms, e.languages, func(f record.Form, language string) bool { return f.Language == language })
}

// shared reports whether the keyword has the page's bid: the bid of the first keyword with its
// group's default.
func (e *Encoder) shared(k *record.Keyword) bool {
	if e.bid == 0 && k.Flags&record.BidFromGroup != 0 {
		e.bid = k.Bid
	}
	return k.Bid == e.bid && e.bid != 0
}

// split cuts a text into n words with one space between; false: it has another form,
// and its words are written without their text.
func (e *Encoder) split(text []byte, n int) bool {
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
func (e *Encoder) word(k *record.Keyword, i int) int {
	norm, text := k.Norm[i], e.parts[i]
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
	e.hashes = append(e.hashes, norm, k.Fold[i])
	for j := range k.Forms {
		e.hashes = append(e.hashes, k.Forms[j].Terms[i])
	}
	start := e.addWord(text, e.hashes[len(e.hashes)-2-len(k.Forms):])
	e.known = append(e.known, knownWord{at: start, size: len(text), before: first})
	return at
}

// same reports whether a keyword's i-th word is the page's w-th.
func (e *Encoder) same(k *record.Keyword, i, w int, text []byte) bool {
	known := e.known[w]
	if string(e.texts[known.at:known.at+known.size]) != string(text) {
		return false
	}
	h := e.hashes[w*(2+len(e.languages)):]
	if h[1] != k.Fold[i] {
		return false
	}
	for j := range k.Forms {
		if h[2+j] != k.Forms[j].Terms[i] {
			return false
		}
	}
	return true
}

// addWord writes a new word; h are its norm, fold and terms. It returns where
// its text begins.
func (e *Encoder) addWord(text []byte, h []uint64) (start int) {
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
		e.texts = record.AppendHashes(e.texts, h[2:])
	}
	return start
}

// Append appends the page as its value in the store.
func (e *Encoder) Append(dst []byte) []byte {
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
	dst = append(dst, Format)
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
