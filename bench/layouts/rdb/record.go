package rdb

import (
	"adshard/fault"

	"google.golang.org/protobuf/encoding/protowire"
)

// record is what goes on with a match, read where it lies.
type record struct {
	id, bid uint64
	quality uint32
	text    []byte
}

// numbers of schema/pb's Keyword.
const (
	fieldID      = 1
	fieldText    = 2
	fieldBid     = 5
	fieldQuality = 7
)

// read reads a Keyword in one pass, without copies and without what is not
// needed. Generated code, which makes a string of the text, takes three times as
// long.
func (r *record) read(b []byte) error {
	*r = record{}
	for len(b) > 0 {
		number, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			return damaged()
		}
		b = b[n:]
		if kind == protowire.BytesType {
			var v []byte
			if v, n = protowire.ConsumeBytes(b); number == fieldText {
				r.text = v
			}
		} else if kind == protowire.VarintType {
			var v uint64
			v, n = protowire.ConsumeVarint(b)
			r.take(number, v)
		} else {
			n = protowire.ConsumeFieldValue(number, kind, b)
		}
		if n < 0 {
			return damaged()
		}
		b = b[n:]
	}
	return nil
}

func (r *record) take(number protowire.Number, v uint64) {
	switch number {
	case fieldID:
		r.id = v
	case fieldBid:
		r.bid = v
	case fieldQuality:
		r.quality = uint32(v)
	}
}

func damaged() error {
	return fault.Newf(fault.Corrupt, "rdb: search", "a value is damaged; build the layout again")
}
