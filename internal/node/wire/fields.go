package wire

import (
	"encoding/binary"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"

	"adshard/fault"
)

// fields reads the fields of an encoded message, one after the other, without reflection and
// without allocating. tag says which field it is and how it is encoded, so that a field in a wrong
// encoding is skipped like one with an unknown number.
type fields struct {
	rest []byte
	tag  uint64 // in the form of tagOf
	n    uint64 // value of a scalar
	b    []byte // content of a text, a message or a packed list
	err  error
}

// The encodings of fields, as the low bits of tags.
const (
	asVarint  = uint64(protowire.VarintType)
	asFixed64 = uint64(protowire.Fixed64Type)
	asBytes   = uint64(protowire.BytesType)
)

// next reads the next field. It returns false if there are no more, or if err is set.
func (f *fields) next() bool {
	if len(f.rest) == 0 || f.err != nil {
		return false
	}
	var n int
	if c := f.rest[0]; c < 0x80 {
		f.tag, n = uint64(c), 1
	} else if f.tag, n = protowire.ConsumeVarint(f.rest); n < 0 {
		return f.fail(n)
	}
	number := protowire.Number(f.tag >> 3)
	if f.tag>>3 > uint64(protowire.MaxValidNumber) || number < protowire.MinValidNumber {
		f.err = malformed(-1)
		return false
	}
	f.rest = f.rest[n:]
	switch f.tag & 7 {
	case asVarint:
		f.n, n = consumeVarint(f.rest)
	case asFixed64:
		f.n, n = protowire.ConsumeFixed64(f.rest)
	case asBytes:
		f.b, n = consumeBytes(f.rest)
	default:
		n = protowire.ConsumeFieldValue(number, protowire.Type(f.tag&7), f.rest)
	}
	if n < 0 {
		return f.fail(n)
	}
	f.rest = f.rest[n:]
	return true
}

func (f *fields) fail(n int) bool {
	f.err = malformed(n)
	return false
}

// text returns the value of a text of at most `most` bytes.
func (f *fields) text(name string, most int) string {
	switch {
	case len(f.b) > most:
		f.err = tooLong(name, len(f.b), most)
	case !utf8.Valid(f.b):
		f.err = fault.Field(checkOp, name, "%s is not UTF-8", name)
	default:
		return string(f.b)
	}
	return ""
}

func tooLong(name string, n, most int) error {
	return fault.Field(checkOp, name, "%s has %d bytes, at most %d are allowed: shorten it", name, n, most)
}

func tooMany(name string, most int) error {
	return fault.Field(checkOp, name, "%s has more than %d entries, the maximum", name, most)
}

// once records that a field holds a message, which may occur only once: a second one would be
// merged into the first.
func (f *fields) once(seen *bool, name string) bool {
	if *seen {
		f.err = fault.Field(checkOp, name, "%s occurs twice in its message", name)
		return false
	}
	*seen = true
	return true
}

// fixed64s appends the entries of a list of fixed64, packed or not.
func (f *fields) fixed64s(to []uint64, name string, most int) []uint64 {
	if f.tag&7 == asFixed64 {
		if len(to) >= most {
			f.err = tooMany(name, most)
			return to
		}
		return append(to, f.n)
	}
	b := f.b
	switch {
	case len(b)%8 != 0:
		f.err = malformed(-1)
	case len(to)+len(b)/8 > most:
		f.err = tooMany(name, most)
	default:
		for ; len(b) > 0; b = b[8:] {
			to = append(to, binary.LittleEndian.Uint64(b))
		}
	}
	return to
}

// varints appends the entries of a list of varints, packed or not. It keeps only the low bits of
// numbers that are too large for T.
func varints[T uint32 | uint64](f *fields, to []T, name string, most int) []T {
	if f.tag&7 == asVarint {
		if len(to) >= most {
			f.err = tooMany(name, most)
			return to
		}
		return append(to, T(f.n))
	}
	for b := f.b; len(b) > 0; {
		v, n := consumeVarint(b)
		switch {
		case n < 0:
			f.err = malformed(n)
			return to
		case len(to) >= most:
			f.err = tooMany(name, most)
			return to
		}
		to, b = append(to, T(v)), b[n:]
	}
	return to
}

// consumeVarint does the same as protowire.ConsumeVarint, but is fast if the number takes one byte.
func consumeVarint(b []byte) (uint64, int) {
	if len(b) > 0 && b[0] < 0x80 {
		return uint64(b[0]), 1
	}
	return protowire.ConsumeVarint(b)
}

// appendVarint appends a scalar, if it is not zero.
func appendVarint(b []byte, number protowire.Number, v uint64) []byte {
	if v == 0 {
		return b
	}
	return protowire.AppendVarint(protowire.AppendTag(b, number, protowire.VarintType), v)
}

func appendBool(b []byte, number protowire.Number, v bool) []byte {
	if !v {
		return b
	}
	return appendVarint(b, number, 1)
}

func appendFixed64(b []byte, number protowire.Number, v uint64) []byte {
	if v == 0 {
		return b
	}
	return protowire.AppendFixed64(protowire.AppendTag(b, number, protowire.Fixed64Type), v)
}

// appendText appends a text, if it is not empty.
func appendText(b []byte, number protowire.Number, v string) []byte {
	if v == "" {
		return b
	}
	return appendEntry(b, number, v)
}

// appendBytes appends bytes, if there are any.
func appendBytes(b []byte, number protowire.Number, v []byte) []byte {
	if len(v) == 0 {
		return b
	}
	return protowire.AppendBytes(protowire.AppendTag(b, number, protowire.BytesType), v)
}

// appendEntry appends an entry of a list of texts, or a text that may be empty.
func appendEntry(b []byte, number protowire.Number, v string) []byte {
	return protowire.AppendString(protowire.AppendTag(b, number, protowire.BytesType), v)
}

// begin appends the tag of a message or a packed list. After its content has been appended, call
// end with the results of begin.
func begin(b []byte, number protowire.Number) (_ []byte, at int) {
	b = append(protowire.AppendTag(b, number, protowire.BytesType), 0) // most lengths take one byte
	return b, len(b)
}

// end sets the length of the content that was appended since begin.
func end(b []byte, at int) []byte {
	n := len(b) - at
	if n < 0x80 {
		b[at-1] = byte(n)
		return b
	}
	more := protowire.SizeVarint(uint64(n)) - 1
	b = append(b, 0, 0, 0, 0, 0, 0, 0, 0, 0)[:len(b)+more]
	copy(b[at+more:], b[at:at+n])
	binary.PutUvarint(b[at-1:], uint64(n))
	return b
}
