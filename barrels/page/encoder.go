package page

import (
	"encoding/binary"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"

	"adshard/barrels/block"
	"adshard/barrels/record"
	"adshard/search/words"
)

// Encoder collects keywords by ascending id and writes them as a page. It reuses its buffers.
type Encoder struct {
	columns   [fields][]byte // texts and whole have their fields with the tags
	count     int
	last      uint64   // id of the keyword before
	languages []string // languages of the forms on the page, which are those of the first keyword
	bid       uint64   // bid of keywords with the group's default, or 0 if there is none yet

	// index finds the last word with a given norm; earlier ones follow through before.
	index  map[uint64]int32
	known  []knownWord
	hashes []uint64 // of the known words: norm, fold, terms
	parts  [][]byte // words of the keyword's text
	lower  []byte
}

// knownWord is a word that the page already has.
type knownWord struct {
	at, size int   // of its text in the column
	before   int32 // the word before it with the same norm, or −1
}

// Reset begins another page.
func (e *Encoder) Reset() {
	e.count, e.last, e.bid = 0, 0, 0
	for i := range e.columns {
		e.columns[i] = e.columns[i][:0]
	}
	e.languages, e.known, e.hashes = e.languages[:0], e.known[:0], e.hashes[:0]
	if e.index == nil {
		e.index = make(map[uint64]int32)
	}
	clear(e.index)
}

// number appends an element to a column of varints.
func (e *Encoder) number(field protowire.Number, v uint64) {
	e.columns[field] = binary.AppendUvarint(e.columns[field], v)
}

// Add appends a keyword.
func (e *Encoder) Add(k *record.Keyword) {
	if e.count == 0 {
		for i := range k.Forms {
			e.languages = append(e.languages, k.Forms[i].Language)
		}
	}
	e.count++
	e.number(ids, k.ID-e.last)
	e.last = k.ID
	if k.Whole != nil || !k.Sound() || !e.speaks(k) {
		e.addWhole(k)
		return
	}
	n := len(k.Norm)
	f := e.flags(k)
	if !e.split(k.Text, n) {
		f |= ownText
		e.columns[texts] = appendBytes(e.columns[texts], texts, k.Text)
	}
	e.row(k.Type, k.Quality, f, n)
	for i := range n {
		e.number(references, uint64(e.word(k, i)))
	}
	for i := range k.Forms {
		e.number(anchors, uint64(slices.Index(k.Forms[i].Terms, k.Anchors[i])))
	}
}

// row appends the columns that every keyword has.
func (e *Encoder) row(kind, quality uint8, f uint64, words int) {
	e.number(types, uint64(kind))
	e.number(qualities, uint64(quality))
	e.number(flags, f)
	e.number(lengths, uint64(words))
}

// flags returns a keyword's flags, and appends its bid.
func (e *Encoder) flags(k *record.Keyword) (f uint64) {
	if k.Flags&block.Enabled != 0 {
		f |= enabled
	}
	if k.Flags&record.BidFromGroup != 0 {
		f |= bidFromGroup
	}
	switch {
	case k.Flags&block.HasBid == 0:
		return f
	case e.shared(k):
		return f | hasBid | hasPageBid
	}
	e.number(bids, k.Bid)
	return f | hasBid
}

// addWhole appends a keyword that does not fit into the columns.
func (e *Encoder) addWhole(k *record.Keyword) {
	e.row(0, 0, isWhole, 0)
	m := appendBytes(nil, wholeKeyword, k.AppendRecord(nil))
	if len(k.Anchors) > 0 {
		m = appendBytes(m, wholeAnchors, record.AppendHashes(nil, k.Anchors))
	}
	e.columns[whole] = appendBytes(e.columns[whole], whole, m)
}

// speaks reports whether the keyword has the page's languages.
func (e *Encoder) speaks(k *record.Keyword) bool {
	return slices.EqualFunc(k.Forms, e.languages, func(f record.Form, language string) bool { return f.Language == language })
}

// shared reports whether the keyword has the page's bid: the bid of the first keyword that has its
// group's default.
func (e *Encoder) shared(k *record.Keyword) bool {
	if e.bid == 0 && k.Flags&record.BidFromGroup != 0 {
		e.bid = k.Bid
	}
	return k.Bid == e.bid && e.bid != 0
}

// split cuts a text into n words separated by one space each. It returns false if the text has
// another form; its words are then written without their text.
func (e *Encoder) split(text []byte, n int) bool {
	e.parts = slices.Grow(e.parts[:0], n)[:n]
	clear(e.parts)
	i, from := 0, 0
	for at := 0; at <= len(text); at++ {
		if at < len(text) && text[at] != ' ' {
			continue
		}
		if at == from || i == n {
			clear(e.parts)
			return false
		}
		e.parts[i] = text[from:at]
		i, from = i+1, at+1
	}
	if i < n {
		clear(e.parts)
	}
	return i == n
}

// word returns the page's index of a keyword's i-th word, which it adds if needed.
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
	e.known = append(e.known, knownWord{at: len(e.columns[wordTexts]), size: len(text), before: first})
	e.addWord(uint64(at), text, e.hashes[len(e.hashes)-2-len(k.Forms):])
	return at
}

// same reports whether a keyword's i-th word is word w of the page.
func (e *Encoder) same(k *record.Keyword, i, w int, text []byte) bool {
	known := e.known[w]
	if string(e.columns[wordTexts][known.at:known.at+known.size]) != string(text) {
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

// addWord writes a new word. h has its norm, fold and terms.
func (e *Encoder) addWord(at uint64, text []byte, h []uint64) {
	e.columns[wordTexts] = append(append(e.columns[wordTexts], text...), ' ')
	var ascii bool
	if e.lower, ascii = appendLower(e.lower[:0], text); !ascii || words.HashBytes(e.lower) != h[0] {
		e.own(ownNorms, norms, at, h[:1])
	}
	if h[1] != h[0] {
		e.own(ownFolds, folds, at, h[1:2])
	}
	for j, language := range e.languages {
		if !ascii || words.TermBytes(language, e.lower) != h[2+j] {
			e.own(ownTerms, terms, at, h[2:])
			return
		}
	}
}

// own writes the hashes of a word if they do not follow from its text.
func (e *Encoder) own(indexes, column protowire.Number, at uint64, hashes []uint64) {
	e.number(indexes, at)
	e.columns[column] = record.AppendHashes(e.columns[column], hashes)
}

// Append appends the page as it is stored.
func (e *Encoder) Append(dst []byte) []byte {
	start := len(dst)
	for _, l := range e.languages {
		dst = protowire.AppendString(protowire.AppendTag(dst, languages, protowire.BytesType), l)
	}
	for field, column := range e.columns {
		switch n := protowire.Number(field); {
		case n == pageBid && e.bid != 0:
			dst = protowire.AppendVarint(protowire.AppendTag(dst, n, protowire.VarintType), e.bid)
		case n == texts, n == whole:
			dst = append(dst, column...)
		case len(column) > 0:
			dst = appendBytes(dst, n, column)
		}
	}
	return seal(dst, start)
}

// appendBytes appends a field of bytes.
func appendBytes(dst []byte, field protowire.Number, b []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(dst, field, protowire.BytesType), b)
}

// appendLower appends text in lower case. ascii is true if text is ASCII and not empty.
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
