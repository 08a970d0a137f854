package rdb

import (
	"encoding/binary"
	"unsafe"

	"capnproto.org/go/capnp/v3"
	flatbuffers "github.com/google/flatbuffers/go"
	"google.golang.org/protobuf/proto"

	"adshard/bench/layouts"
	"adshard/bench/layouts/rdb/cp"
	"adshard/bench/layouts/rdb/fb"
	"adshard/bench/layouts/rdb/pb"
	"adshard/bench/layouts/record"
)

// codec says how a keyword is encoded in a value of the first database.
// engine.h uses the same numbers for flat, raw and capn.
type codec uint8

const (
	// whole: all data of a keyword, as Protocol Buffers.
	whole codec = 0
	// flat and the codecs below encode only the words after the first. flat:
	// FlatBuffers.
	flat codec = 1
	// raw: the hashes as they are in memory.
	raw codec = 2
	// proto3: Protocol Buffers.
	proto3 codec = 3
	// capn: Cap'n Proto, one segment without the frame that gives its length.
	capn codec = 4
)

// encoder encodes values. The bytes that it returns are valid until its next
// call.
type encoder struct {
	set    *layouts.Set
	hashes []uint64 // by word
	buf    []byte
	rest   []uint64
	flat   *flatbuffers.Builder
}

// matching returns keyword i's value in the first database.
func (e *encoder) matching(c codec, i int) ([]byte, error) {
	e.rest = e.rest[:0]
	for _, w := range e.set.Of(i)[1:] {
		e.rest = append(e.rest, e.hashes[w])
	}
	var err error
	e.buf = e.buf[:0]
	switch c {
	case whole:
		e.rest = append(e.rest, e.hashes[e.set.Of(i)[0]]) // the order does not matter
		e.buf, err = record.Append(e.buf, e.set, i, e.rest)
	case proto3:
		e.buf, err = proto.MarshalOptions{}.MarshalAppend(e.buf, &pb.Matching{Rest: e.rest})
	case raw:
		e.buf = append(e.buf, unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(e.rest))), 8*len(e.rest))...)
	case flat:
		e.buf = append(e.buf, e.flatBuffer()...)
	case capn:
		e.buf, err = e.appendCapn(e.buf)
	}
	return e.buf, err
}

func (e *encoder) flatBuffer() []byte {
	b := e.flat
	b.Reset()
	var rest flatbuffers.UOffsetT
	if len(e.rest) > 0 {
		fb.MatchingStartRestVector(b, len(e.rest))
		for i := len(e.rest) - 1; i >= 0; i-- {
			b.PrependUint64(e.rest[i])
		}
		rest = b.EndVector(len(e.rest))
	}
	fb.MatchingStart(b)
	fb.MatchingAddRest(b, rest)
	b.Finish(fb.MatchingEnd(b))
	return b.FinishedBytes()
}

// appendCapn appends the words as a message of Cap'n Proto.
func (e *encoder) appendCapn(dst []byte) ([]byte, error) {
	message, segment, err := capnp.NewMessage(capnp.SingleSegment(nil))
	if err != nil {
		return dst, err
	}
	defer message.Release()
	m, err := cp.NewRootMatching(segment)
	if err != nil || len(e.rest) == 0 {
		return append(dst, segment.Data()...), err
	}
	list, err := m.NewRest(int32(len(e.rest)))
	if err != nil {
		return dst, err
	}
	for i, w := range e.rest {
		list.Set(i, w)
	}
	return append(dst, segment.Data()...), nil
}

// record returns keyword i's value in the second database: everything except
// the words.
func (e *encoder) record(i int) (_ []byte, err error) {
	e.buf, err = record.Append(e.buf[:0], e.set, i, nil)
	return e.buf, err
}

// matchingKey appends a key of the first database: first word, then id. The
// first 8 bytes are the prefix.
func matchingKey(dst []byte, first, id uint64) []byte {
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(dst, first), id)
}

// recordKey appends a key of the second database: the id.
func recordKey(dst []byte, id uint64) []byte { return binary.BigEndian.AppendUint64(dst, id) }
