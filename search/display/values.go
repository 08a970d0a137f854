package display

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
)

// Values are the values in a hit's pieces, still in JSON: Headlines and Descriptions are arrays of
// strings, all others are strings.
type Values struct {
	Advertiser, Campaign, Group, Keyword    []byte
	Headlines, Descriptions, Path, FinalURL []byte
}

// Values finds the values in the pieces. It returns false if they are not of the format, or not
// UTF-8. The values found can be copied into any JSON document, even if the pieces are untrusted.
func (p Pieces) Values() (v Values, ok bool) {
	text := reader{rest: p.Keyword}
	v.Keyword = text.string(0)
	r := reader{rest: p.Group}
	r.skip('[')
	v.Advertiser, v.Campaign, v.Group = r.string(','), r.string(','), r.string(',')
	v.Headlines, v.Descriptions = r.list(','), r.list(',')
	v.Path, v.FinalURL = r.string(','), r.string(']')
	ok = text.done() && r.done() && utf8.Valid(p.Keyword) && utf8.Valid(p.Group)
	return v, ok
}

// reader reads values of compact JSON one after the other. Input that it cannot read
// makes it fail from then on.
type reader struct {
	rest []byte
	bad  bool
}

// done reports whether all input was read without an error.
func (r *reader) done() bool { return !r.bad && len(r.rest) == 0 }

// skip reads the character c.
func (r *reader) skip(c byte) {
	if r.bad || len(r.rest) == 0 || r.rest[0] != c {
		r.bad = true
		return
	}
	r.rest = r.rest[1:]
}

// string reads a string and the character after it, or only the string if after is 0.
func (r *reader) string(after byte) []byte {
	return r.next(stringEnd(r.rest), after)
}

// list reads an array of strings and the character after it, or only the array if after is 0.
func (r *reader) list(after byte) []byte {
	return r.next(listEnd(r.rest), after)
}

// next reads n bytes and the character after, unless that is 0. It fails if n is negative.
func (r *reader) next(n int, after byte) []byte {
	if r.bad || n < 0 {
		r.bad = true
		return nil
	}
	v := r.rest[:n:n]
	r.rest = r.rest[n:]
	if after != 0 {
		r.skip(after)
	}
	return v
}

// listEnd returns the length of the array of strings at the beginning of b, or -1 if
// there is none.
func listEnd(b []byte) int {
	if len(b) < 2 || b[0] != '[' {
		return -1
	}
	if b[1] == ']' {
		return 2
	}
	for at := 1; ; at++ {
		n := stringEnd(b[at:])
		if n < 0 || at+n == len(b) {
			return -1
		}
		at += n
		if b[at] == ']' {
			return at + 1
		}
		if b[at] != ',' {
			return -1
		}
	}
}

// stringEnd returns the length of the string at the beginning of b, or -1 if there is
// none.
func stringEnd(b []byte) int {
	if len(b) == 0 || b[0] != '"' {
		return -1
	}
	for i := 1; ; {
		if i += plain(b[i:]); i == len(b) {
			return -1
		}
		switch b[i] {
		case '"':
			return i + 1
		case '\\':
			n := escapeEnd(b[i:])
			if n < 0 {
				return -1
			}
			i += n
		default: // a control character
			return -1
		}
	}
}

// plain returns how many bytes at the beginning of b are not special.
func plain(b []byte) int {
	i := 0
	for ; i+8 <= len(b); i += 8 {
		if at := specialAt(binary.LittleEndian.Uint64(b[i:])); at < 8 {
			return i + at
		}
	}
	for i < len(b) && !special(b[i]) {
		i++
	}
	return i
}

// specialAt returns the index of the first special byte among eight, or 8 if none is special.
func specialAt(w uint64) int {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	quote, slash := w^ones*'"', w^ones*'\\'
	found := ((w-ones*' ')&^w | (quote-ones)&^quote | (slash-ones)&^slash) & tops
	return bits.TrailingZeros64(found) / 8
}

// escapeEnd returns the length of the escape at the beginning of b, or -1 if there
// is none.
func escapeEnd(b []byte) int {
	const digits = len(`\u0000`)
	if len(b) < 2 {
		return -1
	}
	switch b[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if len(b) < digits {
			return -1
		}
		for _, c := range b[2:digits] {
			if (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'f') {
				return -1
			}
		}
		return digits
	}
	return -1
}

// Names returns the part of a group's piece that all of its ads share.
func Names(group []byte) []byte {
	r := reader{rest: group}
	r.skip('[')
	for range 3 {
		r.string(',')
	}
	return group[:len(group)-len(r.rest)]
}
