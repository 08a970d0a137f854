package ingest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

// maxRecord is the most bytes (as UTF-8) of one record or line; a longer one
// is rejected. It bounds the memory that a row can need.
const maxRecord = 1 << 20

// errTooLong reports a record longer than maxRecord; the reader is positioned
// after it.
var errTooLong = fmt.Errorf("longer than %d bytes: a quote that is not closed?", maxRecord)

// recordReader reads RFC 4180 records: cells parted by sep, perhaps in quotes,
// records ended by LF or CRLF; a line break in a quoted cell is part of it (a
// CRLF there counts as LF). It differs from encoding/csv in what an import
// needs: a record's length is bounded, an empty line counts as a record, a truncated last record is
// distinguished from a complete one, and no cell is
// copied (twice as fast on this data).
type recordReader struct {
	src    io.Reader
	sep    byte
	buf    []byte
	start  int // of the record that comes next
	end    int // of what was read
	srcErr error
	record int64 // number of the newest record, the first is 1
	line   int64 // line on which it begins, the first is 1
	lines  int64 // line ends passed
	open   bool  // the newest record had no line end
	cells  [][]byte
	filled []int // the newest record's cells that are not empty
	plain  bool  // quotes mean nothing: a record is a line
	most   int   // bytes of a record
}

func newRecordReader(src io.Reader) *recordReader {
	return &recordReader{src: src, buf: make([]byte, 64<<10), most: maxRecord}
}

// newLineReader reads lines, by raw only.
func newLineReader(src io.Reader) *recordReader {
	r := newRecordReader(src)
	r.plain = true
	return r
}

// next returns the next record's cells, valid until the following call; io.EOF
// after the last, errTooLong for a record that was skipped. Any other
// error ends the file.
func (r *recordReader) next() ([][]byte, error) {
	raw, err := r.raw()
	if err != nil {
		return nil, err
	}
	return r.split(raw)
}

// raw returns the bytes of the next record without its line end.
func (r *recordReader) raw() ([]byte, error) {
	r.record++
	r.line = r.lines + 1
	scan := recordScan{plain: r.plain}
	for pos := r.start; ; {
		if n, found := scan.find(r.buf[pos:r.end]); found {
			raw := r.buf[r.start : pos+n]
			r.start = pos + n + 1
			r.lines += scan.lines
			r.open = false
			return r.bounded(trimCR(raw))
		}
		pos = r.end
		if r.end-r.start > r.most+len("\r") {
			return nil, r.skip(scan)
		}
		if r.srcErr != nil {
			return r.last(scan)
		}
		pos -= r.refill()
	}
}

// last returns the bytes before the end of the file.
func (r *recordReader) last(scan recordScan) ([]byte, error) {
	raw := r.buf[r.start:r.end]
	r.start = r.end
	r.lines += scan.lines
	r.open = true
	if r.srcErr != io.EOF {
		return nil, r.srcErr
	}
	if len(raw) == 0 {
		return nil, io.EOF
	}
	if scan.quoted {
		return raw, nil // split says what is wrong
	}
	return r.bounded(trimCR(raw))
}

// bounded refuses a record that is too long. A fault in it explains more than
// its length does.
func (r *recordReader) bounded(raw []byte) ([]byte, error) {
	if len(raw) <= r.most {
		return raw, nil
	}
	if r.plain {
		return nil, errTooLong
	}
	if _, err := r.split(raw); err != nil && !errors.Is(err, errOpenQuote) {
		return nil, err
	}
	return nil, errTooLong
}

// skip skips the rest of a record that is too long.
func (r *recordReader) skip(scan recordScan) error {
	if _, err := r.bounded(r.buf[r.start:r.end]); err != errTooLong {
		return err
	}
	for {
		r.start, r.end = 0, 0
		if r.srcErr != nil {
			r.lines += scan.lines
			r.open = true
			if r.srcErr != io.EOF {
				return r.srcErr
			}
			if scan.quoted {
				return errOpenQuote
			}
			return errTooLong
		}
		r.refill()
		if n, found := scan.find(r.buf[:r.end]); found {
			r.start = n + 1
			r.lines += scan.lines
			return errTooLong
		}
	}
}

// refill moves the record to the buffer's start, makes room and reads more; it
// returns by how much the record moved.
func (r *recordReader) refill() (moved int) {
	if r.start > 0 {
		moved = r.start
		r.end = copy(r.buf, r.buf[r.start:r.end])
		r.start = 0
	}
	if r.end == len(r.buf) {
		r.buf = append(r.buf, make([]byte, len(r.buf))...)
	}
	for range 100 {
		n, err := r.src.Read(r.buf[r.end:])
		r.end += n
		r.srcErr = err
		if n > 0 || err != nil {
			return moved
		}
	}
	r.srcErr = io.ErrNoProgress
	return moved
}

var (
	errOpenQuote = errors.New(`a quote that opens a cell is never closed: close it, and double each quote inside a cell ("" for ")`)
	errBareQuote = errors.New(`a quote inside a cell that does not begin with one: put the whole cell into quotes and double each quote inside ("" for ")`)
	errPastQuote = errors.New(`text after the quote that closes a cell: double each quote inside a quoted cell ("" for ")`)
)

// split parts a record into cells, undoing the quoting in place.
func (r *recordReader) split(raw []byte) ([][]byte, error) {
	r.cells, r.filled = r.cells[:0], r.filled[:0]
	plain := bytes.IndexByte(raw, '"') < 0
	for {
		var cell []byte
		var err error
		rest := raw
		if plain || len(raw) == 0 || raw[0] != '"' {
			cell, rest, err = bareCell(raw, r.sep, plain)
		} else {
			cell, rest, err = quotedCell(raw, r.sep)
		}
		if err != nil {
			return nil, &cellError{cell: len(r.cells), err: err}
		}
		if len(cell) > 0 {
			r.filled = append(r.filled, len(r.cells))
		}
		r.cells = append(r.cells, cell)
		if rest == nil {
			return r.cells, nil
		}
		raw = rest
	}
}

// bareCell cuts a cell without quotes; rest is nil after the last.
func bareCell(raw []byte, sep byte, plain bool) (cell, rest []byte, err error) {
	cell = raw
	if i := bytes.IndexByte(raw, sep); i >= 0 {
		cell, rest = raw[:i], raw[i+1:]
	}
	if !plain && bytes.IndexByte(cell, '"') >= 0 {
		return nil, nil, errBareQuote
	}
	return cell, rest, nil
}

// quotedCell cuts a cell in quotes and undoes its doubled quotes in place.
func quotedCell(raw []byte, sep byte) (cell, rest []byte, err error) {
	to, from := 0, 1
	for {
		i := bytes.IndexByte(raw[from:], '"')
		if i < 0 {
			return nil, nil, errOpenQuote
		}
		to += copy(raw[to:], raw[from:from+i])
		from += i + 1
		if from < len(raw) && raw[from] == '"' {
			raw[to] = '"'
			to++
			from++
			continue
		}
		cell = withoutCRLF(raw[:to:to])
		switch {
		case from == len(raw):
			return cell, nil, nil
		case raw[from] == sep:
			return cell, raw[from+1:], nil
		}
		return nil, nil, errPastQuote
	}
}

// cellError is a fault in a record's quoting; cell counts from 0.
type cellError struct {
	cell int
	err  error
}

func (e *cellError) Error() string { return fmt.Sprintf("cell %d: %v", e.cell+1, e.err) }
func (e *cellError) Unwrap() error { return e.err }

// recordScan looks for the end of a record: a line end behind an even number
// of quotes. Where quoting is damaged the record it finds may be too long; it
// holds the fault all the same.
type recordScan struct {
	plain  bool // quotes mean nothing
	quoted bool
	lines  int64
}

var quote = []byte{'"'}

// find returns the offset of the line end that closes the record.
func (s *recordScan) find(b []byte) (n int, found bool) {
	for n < len(b) {
		i := bytes.IndexByte(b[n:], '\n')
		part := b[n:]
		if i >= 0 {
			part = part[:i]
		}
		if !s.plain && bytes.Count(part, quote)&1 == 1 {
			s.quoted = !s.quoted
		}
		if i < 0 {
			return 0, false
		}
		s.lines++
		if !s.quoted {
			return n + i, true
		}
		n += i + 1
	}
	return 0, false
}

func trimCR(b []byte) []byte {
	if n := len(b); n > 0 && b[n-1] == '\r' {
		return b[:n-1]
	}
	return b
}

// withoutCRLF turns CRLF into LF in place.
func withoutCRLF(b []byte) []byte {
	if bytes.IndexByte(b, '\r') < 0 {
		return b
	}
	to := 0
	for i, c := range b {
		if c == '\r' && i+1 < len(b) && b[i+1] == '\n' {
			continue
		}
		b[to] = c
		to++
	}
	return b[:to]
}
