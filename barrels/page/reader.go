package page

import (
	"bytes"
	"encoding/binary"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"adshard/barrels/block"
	"adshard/barrels/record"
	"adshard/schema/pb"
	"adshard/search/words"
)

// Reader reads the keywords of one page after the other. It reuses its buffers.
type Reader struct {
	columns
	bare      bool   // whether only ids and texts are read (OpenTexts)
	n         int    // number of keywords
	first     uint64 // id of the first keyword
	last      uint64 // id of the keyword before
	bid       uint64 // the page's bid
	languages []string
	forms     int      // number of languages
	own       [][]byte // texts of keywords that differ from the words' texts
	ownRead   int
	wholes    [][]byte // pb.WholeKeyword
	wholeRead int
	words     [][]byte // their texts
	hashes    []uint64 // of each word: norm, fold, terms
	refs      []int    // the keyword's words
	rows      []uint64 // rows of the keyword
	current   record.Keyword
}

// Open begins a page. Its bytes must not change while the page is read.
func (r *Reader) Open(value []byte) error { return r.open(value, false) }

// OpenTexts is Open for what answers show: keywords have only their ids, texts and URLs (FinalURL).
// Hashing the words would take most of the time.
func (r *Reader) OpenTexts(value []byte) error { return r.open(value, true) }

func (r *Reader) open(value []byte, bare bool) error {
	b, err := message(value)
	if err != nil {
		return err
	}
	r.columns, r.bare, r.last, r.bid, r.forms = columns{}, bare, 0, 0, 0
	r.own, r.ownRead, r.wholes, r.wholeRead = r.own[:0], 0, r.wholes[:0], 0
	if record.EachField(b, r.field) != nil || r.forms > record.MaxForms {
		return ErrDamaged
	}
	r.first, _ = binary.Uvarint(r.of[ids])
	r.n = len(r.of[types]) // numbers below 128
	return r.readWords()
}

// Len returns the number of keywords of the page.
func (r *Reader) Len() int { return r.n }

// First returns the id of the page's first keyword, or 0 if the page is damaged.
func (r *Reader) First() uint64 { return r.first }

// field stores a field of the page.
func (r *Reader) field(n protowire.Number, b []byte, v uint64) error {
	switch {
	case n == languages:
		r.language(b)
	case n == pageBid:
		r.bid = v
	case n == texts:
		r.own = append(r.own, b)
	case n == whole:
		r.wholes = append(r.wholes, b)
	case n < fields:
		r.of[n] = b
	}
	return nil
}

// language adds a language. Most pages have those of the page before.
func (r *Reader) language(b []byte) {
	if r.forms == len(r.languages) {
		r.languages = append(r.languages, "")
	}
	if r.languages[r.forms] != string(b) {
		r.languages[r.forms] = string(b)
	}
	r.forms++
}

func (r *Reader) readWords() error {
	r.words, r.hashes = r.words[:0], r.hashes[:0]
	var room [64]byte
	for rest := r.of[wordTexts]; len(rest) > 0; {
		end := bytes.IndexByte(rest, ' ')
		if end < 0 {
			return ErrDamaged
		}
		if !r.bare {
			r.word(len(r.words), rest[:end], room[:0])
		}
		r.words, rest = append(r.words, rest[:end]), rest[end+1:]
	}
	if r.bad {
		return ErrDamaged
	}
	return nil
}

// word appends the hashes of a word. It overwrites lower, a buffer.
func (r *Reader) word(i int, text, lower []byte) {
	lower, _ = appendLower(lower, text)
	var norm uint64
	if r.owns(ownNorms, i) {
		norm = r.hash(norms)
	} else {
		norm = words.HashBytes(lower)
	}
	fold := norm
	if r.owns(ownFolds, i) {
		fold = r.hash(folds)
	}
	r.hashes = append(r.hashes, norm, fold)
	own := r.owns(ownTerms, i)
	for _, language := range r.languages[:r.forms] {
		if own {
			r.hashes = append(r.hashes, r.hash(terms))
		} else {
			r.hashes = append(r.hashes, words.TermBytes(language, lower))
		}
	}
}

// Next returns the next keyword, valid until the next call, or nil at the end of the page.
func (r *Reader) Next() (*record.Keyword, error) {
	if len(r.of[ids]) == 0 {
		return nil, nil
	}
	k := &r.current
	delta := r.number(ids)
	if delta == 0 || delta > record.MaxID {
		return nil, ErrDamaged
	}
	r.last += delta
	*k = record.Keyword{
		ID: r.last, Type: uint8(r.number(types)), Quality: uint8(r.number(qualities)), Text: k.Text[:0],
		Norm: k.Norm[:0], Fold: k.Fold[:0], Forms: k.Forms[:0], Anchors: k.Anchors[:0],
	}
	f, n := r.number(flags), r.number(lengths)
	if f&isWhole != 0 {
		return k, r.whole(k)
	}
	if f&enabled != 0 {
		k.Flags |= block.Enabled
	}
	if f&bidFromGroup != 0 {
		k.Flags |= record.BidFromGroup
	}
	switch f & (hasBid | hasPageBid) {
	case hasBid:
		k.Flags, k.Bid = k.Flags|block.HasBid, r.number(bids)
	case hasBid | hasPageBid:
		k.Flags, k.Bid = k.Flags|block.HasBid, r.bid
	}
	if n > uint64(len(r.of[references])) {
		return nil, ErrDamaged
	}
	if err := r.text(k, int(n), f&ownText != 0); err != nil || r.bare {
		return k, err
	}
	return k, r.hashed(k, int(n))
}

// text reads the references to a keyword's n words, and its text. own means that the text is not that
// of the words.
func (r *Reader) text(k *record.Keyword, n int, own bool) error {
	r.refs = r.refs[:0]
	for i := range n {
		w := r.number(references)
		if w >= uint64(len(r.words)) {
			return ErrDamaged
		}
		r.refs = append(r.refs, int(w))
		if !own {
			if i > 0 {
				k.Text = append(k.Text, ' ')
			}
			k.Text = append(k.Text, r.words[w]...)
		}
	}
	switch {
	case r.bad, own && r.ownRead == len(r.own):
		return ErrDamaged
	case own:
		k.Text = append(k.Text, r.own[r.ownRead]...)
		r.ownRead++
	}
	return nil
}

// hashed reads the hashes of a keyword's n words, and its anchors.
func (r *Reader) hashed(k *record.Keyword, n int) error {
	width := 2 + r.forms
	r.rows = slices.Grow(r.rows[:0], n*width)[:n*width]
	for i, w := range r.refs {
		for j, h := range r.hashes[w*width : (w+1)*width] {
			r.rows[j*n+i] = h
		}
	}
	k.Norm, k.Fold = r.rows[:n:n], r.rows[n:2*n:2*n]
	for j, language := range r.languages[:r.forms] {
		list := r.rows[(2+j)*n : (3+j)*n : (3+j)*n]
		k.Forms = append(k.Forms, record.Form{Language: language, Terms: list})
		at := r.number(anchors)
		if at >= uint64(n) {
			return ErrDamaged
		}
		k.Anchors = append(k.Anchors, list[at])
	}
	if r.bad {
		return ErrDamaged
	}
	return nil
}

// whole reads a keyword whose full record is on the page.
func (r *Reader) whole(k *record.Keyword) error {
	if r.wholeRead == len(r.wholes) {
		return ErrDamaged
	}
	var c columns
	var raw []byte
	err := record.EachField(r.wholes[r.wholeRead], func(n protowire.Number, b []byte, _ uint64) error {
		switch n {
		case wholeKeyword:
			raw = b
		case wholeAnchors:
			c.of[n] = b
		}
		return nil
	})
	r.wholeRead++
	var chosen []uint64
	for len(c.of[wholeAnchors]) > 0 {
		chosen = append(chosen, c.hash(wholeAnchors))
	}
	m := new(pb.Keyword)
	if err != nil || c.bad || r.bad || proto.Unmarshal(raw, m) != nil || m.Id != k.ID {
		return ErrDamaged
	}
	err = k.Set(m)
	k.Anchors, k.Whole = chosen, raw
	return err
}
