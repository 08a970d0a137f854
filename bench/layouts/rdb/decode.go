package rdb

import (
	"unsafe"

	flatbuffers "github.com/google/flatbuffers/go"
	"google.golang.org/protobuf/proto"

	"adshard/bench/layouts/rdb/fb"
	"adshard/bench/layouts/rdb/pb"
	"adshard/bench/layouts/record"
	adshardpb "adshard/schema/pb"
)

// decoder reads values. It makes new messages for each value, or once
// (reuse).
type decoder struct {
	reuse    bool
	keyword  *adshardpb.Keyword // the one read last
	matching *pb.Matching
	flat     fb.Matching
	list     []uint64
	ids      []uint64
}

// words reads the words of a value that decide, all or those after the first;
// they are good until the next call.
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

func unmarshal(value []byte, m proto.Message) error {
	if err := proto.Unmarshal(value, m); err != nil {
		return record.Damaged()
	}
	return nil
}
