package textfile

import (
	"bytes"
	"errors"
	"io"
	"unicode/utf8"
)

// BOM is the byte order mark of UTF-8.
var BOM = []byte{0xEF, 0xBB, 0xBF}

// Byte order marks of UTF-16.
var (
	bomUTF16LE = []byte{0xFF, 0xFE}
	bomUTF16BE = []byte{0xFE, 0xFF}
)

// errCutUnit is the error of a UTF-16 file that ends in the middle of a unit.
var errCutUnit = errors.New("the file ends in the middle of a UTF-16 character: it was cut off; get the whole file and import it again")

var (
	errGzip   = errors.New("the file is compressed: unpack it first (gunzip FILE), or feed it to standard input (gunzip -c FILE | adshard import … -)")
	errPacked = errors.New("the file is compressed: unpack it first")
	errBook   = errors.New("the file is a workbook of a spreadsheet (.xlsx, .ods, .xls) or another archive, no text: save the sheet as CSV UTF-8, or unpack the archive")
)

// otherFiles are the first bytes of files that are not text, with the errors to return.
var otherFiles = []struct {
	begins string
	err    error
}{
	{"\x1f\x8b", errGzip}, {"PK\x03", errBook}, {"\xd0\xcf\x11", errBook}, {"\x28\xb5\x2f", errPacked}, {"\xfd7z", errPacked},
}

// Decode returns the content of src as UTF-8 without a byte order mark. The encoding is detected from the first
// bytes: UTF-16 of either order with a mark, else UTF-8. Invalid bytes stay invalid, so that their row can be
// rejected at its column. Archives and spreadsheets are errors.
func Decode(src io.Reader) (io.Reader, error) {
	var head [3]byte
	n, err := io.ReadFull(src, head[:])
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF { // io.ReadFull returns these errors unwrapped if src has fewer than 3 bytes
		return nil, err
	}
	start := head[:n]
	switch {
	case bytes.HasPrefix(start, BOM):
		return src, nil
	case bytes.HasPrefix(start, bomUTF16LE):
		return &utf16Reader{src: io.MultiReader(bytes.NewReader(start[2:]), src), low: 0, high: 1}, nil
	case bytes.HasPrefix(start, bomUTF16BE):
		return &utf16Reader{src: io.MultiReader(bytes.NewReader(start[2:]), src), low: 1, high: 0}, nil
	}
	for _, other := range otherFiles {
		if bytes.HasPrefix(start, []byte(other.begins)) {
			return nil, other.err
		}
	}
	return io.MultiReader(bytes.NewReader(start), src), nil
}

// utf16Reader turns UTF-16 into UTF-8. A surrogate without its partner becomes the three bytes that UTF-8 forbids for
// it, so that the cell is invalid text.
type utf16Reader struct {
	src       io.Reader
	low, high int // offsets of a unit's bytes
	in        [16 << 10]byte
	odd       int    // bytes of a truncated unit at the start of in: 0 or 1
	lead      uint16 // high surrogate that waits for its partner, or 0
	out       []byte // decoded bytes that have not been read yet
	buf       []byte
	err       error
}

// Read implements io.Reader.
func (r *utf16Reader) Read(p []byte) (int, error) {
	for len(r.out) == 0 {
		if r.err != nil {
			return 0, r.err
		}
		r.fill()
	}
	n := copy(p, r.out)
	r.out = r.out[n:]
	return n, nil
}

func (r *utf16Reader) fill() {
	n, err := r.src.Read(r.in[r.odd:])
	n += r.odd
	r.buf = r.buf[:0]
	for i := 0; i+1 < n; i += 2 {
		unit := uint16(r.in[i+r.low]) | uint16(r.in[i+r.high])<<8
		if unit < utf8.RuneSelf && r.lead == 0 {
			r.buf = append(r.buf, byte(unit))
			continue
		}
		r.unit(unit)
	}
	r.odd = n & 1
	if r.odd == 1 {
		r.in[0] = r.in[n-1]
	}
	if err != nil {
		r.finish(err)
	}
	r.out = r.buf
}

// unit decodes a unit that is not ASCII or that follows a surrogate.
func (r *utf16Reader) unit(unit uint16) {
	lead := r.lead
	r.lead = 0
	trail := unit&0xFC00 == 0xDC00
	if lead != 0 && trail {
		r.buf = utf8.AppendRune(r.buf, 0x10000+(rune(lead)-0xD800)<<10+rune(unit)-0xDC00)
		return
	}
	if lead != 0 {
		r.buf = appendLone(r.buf, lead)
	}
	switch {
	case unit&0xFC00 == 0xD800:
		r.lead = unit
	case trail:
		r.buf = appendLone(r.buf, unit)
	default:
		r.buf = utf8.AppendRune(r.buf, rune(unit))
	}
}

func (r *utf16Reader) finish(err error) {
	r.err = err
	if err != io.EOF {
		return
	}
	if r.odd == 1 || r.lead != 0 {
		r.err = errCutUnit
	}
}

// appendLone appends the invalid bytes that represent a lone surrogate.
func appendLone(b []byte, unit uint16) []byte {
	return append(b, 0xE0|byte(unit>>12), 0x80|byte(unit>>6)&0x3F, 0x80|byte(unit)&0x3F)
}

// HasLoneSurrogate reports whether a text contains the bytes that Decode writes for half a UTF-16 pair.
func HasLoneSurrogate(b []byte) bool {
	at := bytes.IndexByte(b, 0xED)
	return at >= 0 && at+2 < len(b) && b[at+1] >= 0xA0 && b[at+2] >= 0x80
}
