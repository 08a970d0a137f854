package barrels

import (
	"encoding/binary"

	"adshard/barrels/block"
	"adshard/search"

	"google.golang.org/protobuf/encoding/protowire"
)

// Field numbers of records.proto that are read without the rest, beside those
// of record.go.
const (
	groupIDField        = 2
	groupEnabledField   = 6
	groupModifiersField = 7
	negativeEnabled     = 5
	keywordIDField      = 1
	keywordTypeField    = 3
	keywordEnabledField = 4
	keywordBidField     = 5
	keywordQualityField = 7
	keywordNormField    = 8
	keywordFoldField    = 9
)

// readHead reads what postings say of a group from its record; its key is the
// caller's. It is groupHead without the ads' and negatives' texts.
func readHead(key uint64, record []byte) (h block.Group, err error) {
	h = block.Group{Key: key, Modifiers: [search.Devices]uint16{block.NotSet, block.NotSet, block.NotSet}}
	err = eachField(record, func(n protowire.Number, b []byte, v uint64) error {
		switch n {
		case groupIDField:
			h.ID = v
		case groupCampaignField:
			h.Campaign = v
		case groupAdvertiserField:
			h.Advertiser = v
		case groupEnabledField:
			if v != 0 {
				h.Flags |= block.GroupEnabled
			}
		case groupModifiersField:
			return readModifiers(b, &h.Modifiers)
		case groupNegativeField:
			return flagIf(b, negativeEnabled, &h.Flags, block.GroupNegatives)
		case groupAdField:
			return flagIf(b, adEnabledField, &h.Flags, block.GroupHasAd)
		}
		return nil
	})
	return h, err
}

func readModifiers(b []byte, m *[search.Devices]uint16) error {
	return eachField(b, func(n protowire.Number, _ []byte, v uint64) error {
		if n >= 1 && int(n) <= search.Devices {
			m[n-1] = uint16(v)
		}
		return nil
	})
}

// flagIf sets a flag when a boolean field of a message is true.
func flagIf(b []byte, field protowire.Number, flags *uint16, flag uint16) error {
	if *flags&flag != 0 {
		return nil
	}
	return eachField(b, func(n protowire.Number, _ []byte, v uint64) error {
		if n == field && v != 0 {
			*flags |= flag
		}
		return nil
	})
}

// keywordFields is what postings say of a keyword; the slices are its record's,
// 8 bytes a hash.
type keywordFields struct {
	id, bid       uint64
	kind, quality uint8
	flags         uint8
	norm, fold    []byte
	terms         [][]byte // by form
}

// read reads a keyword's record.
func (k *keywordFields) read(record []byte) error {
	*k = keywordFields{terms: k.terms[:0]}
	err := eachField(record, func(n protowire.Number, b []byte, v uint64) error {
		switch n {
		case keywordIDField:
			k.id = v
		case keywordTypeField:
			k.kind = uint8(v)
		case keywordEnabledField:
			if v != 0 {
				k.flags |= block.Enabled
			}
		case keywordBidField:
			k.bid = v
			k.flags |= block.HasBid
		case keywordQualityField:
			k.quality = uint8(v)
		case keywordNormField:
			k.norm = b
		case keywordFoldField:
			k.fold = b
		case keywordFormsField:
			return k.readForm(b)
		}
		return nil
	})
	if len(k.terms) > 1 {
		k.flags |= block.Several
	}
	return err
}

func (k *keywordFields) readForm(b []byte) error {
	var terms []byte
	err := eachField(b, func(n protowire.Number, b []byte, _ uint64) error {
		if n == formTermsField {
			terms = b
		}
		return nil
	})
	if len(terms) == 0 || len(terms) != len(k.norm) || len(terms) != len(k.fold) {
		return errPage
	}
	k.terms = append(k.terms, terms)
	return err
}

// appendPosting appends the canonical bytes of a form's posting: what
// block.View's AppendPosting gives of it.
func (k *keywordFields) appendPosting(dst []byte, g *block.Group, form int) []byte {
	flags := k.flags
	if form > 0 {
		flags |= block.Later
	}
	dst = block.AppendHead(dst, g, k.id, k.bid, uint8(len(k.norm)/8), k.quality, k.kind, flags)
	terms := k.terms[form]
	for i := 0; i < len(terms); i += 8 {
		dst = append(dst, k.norm[i:i+8]...)
		dst = append(dst, k.fold[i:i+8]...)
		dst = append(dst, terms[i:i+8]...)
	}
	return dst
}

// hasTerm tells whether a form has a term.
func (k *keywordFields) hasTerm(form int, term uint64) bool {
	for t := k.terms[form]; len(t) >= 8; t = t[8:] {
		if binary.LittleEndian.Uint64(t) == term {
			return true
		}
	}
	return false
}
