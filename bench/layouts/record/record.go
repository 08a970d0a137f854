// Package record encodes and reads a keyword's record as the layouts of the
// thesis keep it: a Keyword of schema/pb, in Protocol Buffers, with what a set
// knows about it.
package record

import (
	"encoding/binary"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"adshard/bench/layouts"
	"adshard/fault"
	"adshard/schema/pb"
)

// Append appends the record of keyword i. norm holds the hashes of its words; nil
// if they are stored elsewhere.
func Append(dst []byte, set *layouts.Set, i int, norm []uint64) ([]byte, error) {
	bid := uint64(set.Bids[i])
	dst, err := proto.MarshalOptions{}.MarshalAppend(dst, &pb.Keyword{
		Id: set.ID(i), Text: string(set.Text(nil, i)), Type: pb.MatchType_MATCH_TYPE_BROAD,
		Enabled: true, Bid: &bid, Quality: uint32(set.Qualities[i]), Norm: norm,
	})
	return dst, fault.New(fault.Internal, "record: append", err)
}

// Record holds the fields that are needed after a match, read without copying.
type Record struct {
	ID, Bid uint64
	Quality uint32
	Text    []byte // part of the bytes that were read
}

// Field numbers of schema/pb's Keyword.
const (
	fieldID      = 1
	fieldText    = 2
	fieldBid     = 5
	fieldQuality = 7
)

// Read reads a record in one pass, without copies. Generated code, which makes a
// string of the text, takes six times as long. It returns fault.Corrupt if the
// bytes are not a record.
func (r *Record) Read(b []byte) error {
	*r = Record{}
	for len(b) > 0 {
		tag := b[0] // all tags of Keyword take one byte
		v, n := binary.Uvarint(b[1:])
		if tag >= 0x80 || n <= 0 {
			return Damaged()
		}
		b = b[1+n:]
		var text []byte
		switch protowire.Type(tag & 7) {
		case protowire.VarintType:
		case protowire.BytesType:
			if v > uint64(len(b)) {
				return Damaged()
			}
			text, b = b[:v], b[v:]
		default: // a set's records have no other fields
			return Damaged()
		}
		r.take(tag>>3, v, text)
	}
	if r.ID == 0 {
		return Damaged()
	}
	return nil
}

func (r *Record) take(number byte, v uint64, text []byte) {
	switch number {
	case fieldID:
		r.ID = v
	case fieldText:
		r.Text = text
	case fieldBid:
		r.Bid = v
	case fieldQuality:
		r.Quality = uint32(v)
	}
}

// Damaged returns the error for a damaged value.
func Damaged() error {
	return fault.Newf(fault.Corrupt, "record: read", "a keyword's data are damaged or missing; build the layout again")
}
