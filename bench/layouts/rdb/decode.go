package rdb

import (
	"math"
	"unsafe"

	"capnproto.org/go/capnp/v3"
	flatbuffers "github.com/google/flatbuffers/go"
	"google.golang.org/protobuf/proto"

	"adshard/bench/layouts/rdb/cp"
	"adshard/bench/layouts/rdb/fb"
	"adshard/bench/layouts/rdb/pb"
	"adshard/bench/layouts/record"
	adshardpb "adshard/schema/pb"
)

// decoder reads values. It makes new messages for each value or, if reuse is
// set, only once.
type decoder struct {
	reuse    bool
	keyword  *adshardpb.Keyword // the last one that was read
	matching *pb.Matching
	flat     fb.Matching
	segment  capnp.ReadOnlySingleSegment
	message  *capnp.Message
	list     []uint64
	ids      []uint64
}

// words returns the words of a value that decide on a match, either all or
// those after the first. They are valid until the next call.
func (d *decoder) words(c codec, value []byte) ([]uint64, error) {
	switch c {
	case whole:
		err := d.record(value)
		return d.keyword.Norm, err
	case proto3:
		if d.matching == nil || !d.reuse {
			d.matching = new(pb.Matching)
		}
		if err := unmarshal(value, d.matching); err != nil {
			return nil, err
		}
		return d.matching.Rest, nil
	case flat:
		return d.flatWords(value), nil
	case capn:
		return d.capnWords(value)
	}
	if !d.reuse {
		d.list = nil
	}
	d.list = append(d.list[:0], make([]uint64, len(value)/8)...)
	copy(unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(d.list))), 8*len(d.list)), value)
	return d.list, nil
}

// record reads a Keyword.
func (d *decoder) record(value []byte) error {
	if d.keyword == nil || !d.reuse {
		d.keyword = new(adshardpb.Keyword)
	}
	return unmarshal(value, d.keyword)
}

func (d *decoder) flatWords(value []byte) []uint64 {
	m := &d.flat
	if !d.reuse {
		m = new(fb.Matching)
		d.list = nil
	}
	m.Init(value, flatbuffers.GetUOffsetT(value))
	d.list = d.list[:0]
	for i := range m.RestLength() {
		d.list = append(d.list, m.Rest(i))
	}
	return d.list
}

// capnWords reads a value of Cap'n Proto. A searcher uses one message for all
// its values, one after another.
func (d *decoder) capnWords(value []byte) ([]uint64, error) {
	if d.message == nil {
		d.message = &capnp.Message{Arena: &d.segment}
	}
	if len(value)%8 != 0 {
		return nil, record.Damaged() // the library panics at less than a word
	}
	d.segment.Release()
	d.segment.ReplaceData(value)
	d.message.ResetReadLimit(math.MaxUint64) // each value is read only once
	m, err := cp.ReadRootMatching(d.message)
	if err != nil || !m.IsValid() {
		return nil, record.Damaged()
	}
	rest, err := m.Rest()
	if err != nil || !rest.IsValid() && m.HasRest() {
		return nil, record.Damaged()
	}
	d.list = d.list[:0]
	for i := range rest.Len() {
		d.list = append(d.list, rest.At(i))
	}
	return d.list, nil
}

func unmarshal(value []byte, m proto.Message) error {
	if err := proto.Unmarshal(value, m); err != nil {
		return record.Damaged()
	}
	return nil
}
