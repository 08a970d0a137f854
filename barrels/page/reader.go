package page

import (
	"slices"

	"google.golang.org/protobuf/proto"

	"adshard/barrels/block"
	"adshard/barrels/record"
	"adshard/schema/pb"
	"adshard/search/words"
)

// Reader reads the keywords of one page after the other. It keeps its
// scratch.
type Reader struct {
	parts
	rest      cursor // keywords
	left      int
	last      uint64 // id of the keyword before
	languages []string
	texts     [][]byte
	hashes    []uint64 // of each word: norm, fold, terms
	rows      []uint64 // of the keyword
	current   record.Keyword
}

// Open begins a page, whose bytes must stay as they are.
func (r *Reader) Open(value []byte) (err error) {
	if r.parts, err = openPage(value); err != nil {
		return err
	}
	r.rest, r.left, r.last = cursor{b: r.keywords}, r.count, 0
	c := cursor{b: r.heads}
	r.languages = slices.Grow(r.languages, r.forms)[:r.forms]
	for i := range r.languages {
		if b := c.bytes(c.uvarint()); string(b) != r.languages[i] {
			r.languages[i] = string(b)
		}
	}
	return r.readWords()
}

func (r *Reader) readWords() error {
	r.texts, r.hashes = r.texts[:0], r.hashes[:0]
	c := cursor{b: r.parts.texts}
	var room [64]byte
	for range r.words {
		head := c.uvarint()
		text := c.bytes(head >> wordFlags)
		lower := room[:0]
		if head&ownNorm == 0 || head&ownTerms == 0 {
			lower, _ = appendLower(lower, text)
		}
		norm := uint64(0)
		if head&ownNorm != 0 {
			norm = c.uint64()
		} else {
			norm = words.HashBytes(lower)
		}
		fold := norm
		if head&ownFold != 0 {
			fold = c.uint64()
		}
		r.texts, r.hashes = append(r.texts, text), append(r.hashes, norm, fold)
		for i := range r.forms {
			if head&ownTerms != 0 {
				r.hashes = append(r.hashes, c.uint64())
			} else {
				r.hashes = append(r.hashes, words.TermBytes(r.languages[i], lower))
			}
		}
	}
	if c.bad {
		return ErrDamaged
	}
	return nil
}

// Next returns the next keyword, valid until the next call; nil at the end of the page.
func (r *Reader) Next() (*record.Keyword, error) {
	if r.left == 0 {
		return nil, nil
	}
	r.left--
	k, c := &r.current, &r.rest
	delta := c.uvarint()
	head := [2]byte{c.byte(), c.byte()}
	if delta == 0 || delta > record.MaxID || c.bad {
		return nil, ErrDamaged
	}
	r.last += delta
	*k = record.Keyword{
		ID: r.last, Type: head[0] & pageType, Quality: head[0] >> pageQuality, Text: k.Text[:0],
		Norm: k.Norm[:0], Fold: k.Fold[:0], Forms: k.Forms[:0], Anchors: k.Anchors[:0],
	}
	if head[1]&pageWhole != 0 {
		return k, r.whole(k)
	}
	if head[0]&pageEnabled != 0 {
		k.Flags |= block.Enabled
	}
	if head[0]&pageGroups != 0 {
		k.Flags |= record.BidFromGroup
	}
	switch head[1] & (pageHasBid | pageBid) {
	case pageHasBid:
		k.Flags, k.Bid = k.Flags|block.HasBid, c.uvarint()
	case pageHasBid | pageBid:
		k.Flags, k.Bid = k.Flags|block.HasBid, r.bid
	}
	return k, r.hashed(k, int(head[1]&pageWords), head[1]&pageText != 0)
}

// hashed reads a keyword's words, anchors and text.
func (r *Reader) hashed(k *record.Keyword, n int, ownText bool) error {
	c := &r.rest
	width := 2 + r.forms
	r.rows = slices.Grow(r.rows[:0], n*width)[:n*width]
	for i := range n {
		w := c.uvarint()
		if w >= uint64(r.words) {
			return ErrDamaged
		}
		for j, h := range r.hashes[int(w)*width : (int(w)+1)*width] {
			r.rows[j*n+i] = h
		}
		if !ownText {
			if i > 0 {
				k.Text = append(k.Text, ' ')
			}
			k.Text = append(k.Text, r.texts[w]...)
		}
	}
	k.Norm, k.Fold = r.rows[:n:n], r.rows[n:2*n:2*n]
	for j, language := range r.languages {
		terms := r.rows[(2+j)*n : (3+j)*n : (3+j)*n]
		k.Forms = append(k.Forms, record.Form{Language: language, Terms: terms})
		at := int(c.byte())
		if at >= n {
			return ErrDamaged
		}
		k.Anchors = append(k.Anchors, terms[at])
	}
	if ownText {
		k.Text = append(k.Text, c.bytes(c.uvarint())...)
	}
	if c.bad {
		return ErrDamaged
	}
	return nil
}

// whole reads a keyword whose full record is on the page.
func (r *Reader) whole(k *record.Keyword) error {
	c := &r.rest
	var anchors []uint64
	for n := c.count(); n > 0; n-- {
		anchors = append(anchors, c.uint64())
	}
	record := c.bytes(c.uvarint())
	m := new(pb.Keyword)
	if c.bad || proto.Unmarshal(record, m) != nil || m.Id != k.ID {
		return ErrDamaged
	}
	err := k.Set(m)
	k.Anchors, k.Whole = anchors, record
	return err
}
