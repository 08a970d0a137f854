package textfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
)

// MaxRecord is the most bytes (as UTF-8) of a record; a longer one is skipped. It bounds the memory that a row can
// take.
const MaxRecord = 1 << 20

// ErrTooLong is the error of a record longer than MaxRecord. The reader then continues after that record.
var ErrTooLong = fmt.Errorf("longer than %d bytes: a quote that is not closed?", MaxRecord)

// Reader reads RFC 4180 records: cells with a separator between them, optionally quoted, and LF or CRLF at the end of
// a record. A line break in a quoted cell is part of the cell (CRLF becomes LF). Reader differs from encoding/csv in
// what an import needs: a record's length is bounded, an empty line is a record, a truncated last record is told from
// a complete one, and no cell is copied (twice as fast on this data).
type Reader struct {
	Separator byte
	Record    int64 // number of the newest record, from 1
	Line      int64 // line on which that record begins, from 1
	Unended   bool  // the newest record had no line end
	Filled    []int // indices of the newest record's cells that are not empty

	src    io.Reader
	buf    []byte
	start  int // of the next record
	end    int // of the bytes read
	srcErr error
	lines  int64 // line ends so far
	cells  [][]byte
	begun  [][]byte // of a record that is too long
	plain  bool     // quotes mean nothing: a record is a line
	most   int      // bytes of a record
}

// NewReader returns a Reader of records in UTF-8 text.
func NewReader(src io.Reader) *Reader {
	return &Reader{src: src, buf: make([]byte, 64<<10), most: MaxRecord}
}

// NewLineReader returns a Reader of lines of at most `most` bytes, for which only Raw may be called.
func NewLineReader(src io.Reader, most int) *Reader {
	r := NewReader(src)
	r.plain, r.most = true, most
	return r
}

// Next returns the next record's cells, which are valid until the following call. It returns io.EOF after the last
// record and ErrTooLong for a record that was skipped. Any other error ends the file.
func (r *Reader) Next() ([][]byte, error) {
	raw, err := r.Raw()
	if err != nil {
		return nil, err
	}
	return r.Split(raw)
}

// Begun returns the cells of the record that Next has just skipped as too long, as far as they were read: a cell that
// was cut off is missing.
func (r *Reader) Begun() [][]byte { return r.begun }

// Raw returns the bytes of the next record without its line end.
func (r *Reader) Raw() ([]byte, error) {
	r.Record++
	r.Line = r.lines + 1
	scan := recordScan{plain: r.plain}
	for pos := r.start; ; {
		if n, found := scan.find(r.buf[pos:r.end]); found {
			raw := r.buf[r.start : pos+n]
			r.start = pos + n + 1
			r.lines += scan.lines
			r.Unended = false
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

// last returns the bytes between the last line end and the end of the file.
func (r *Reader) last(scan recordScan) ([]byte, error) {
	raw := r.buf[r.start:r.end]
	r.start = r.end
	r.lines += scan.lines
	r.Unended = true
	if r.srcErr != io.EOF {
		return nil, r.srcErr
	}
	if len(raw) == 0 {
		return nil, io.EOF
	}
	if scan.quoted {
		return raw, nil // Split reports what is wrong
	}
	return r.bounded(trimCR(raw))
}

// bounded returns an error if a record is too long. If its quoting is at fault, it returns that error, which explains
// more.
func (r *Reader) bounded(raw []byte) ([]byte, error) {
	if len(raw) <= r.most {
		return raw, nil
	}
	if r.plain {
		return nil, ErrTooLong
	}
	_, err := r.Split(raw)
	whole := len(r.cells)
	switch {
	case err == nil:
		whole-- // the last cell may have been cut off
	case !errors.Is(err, errOpenQuote):
		return nil, err
	}
	r.begun = r.begun[:0]
	for _, cell := range r.cells[:whole] {
		r.begun = append(r.begun, bytes.Clone(cell))
	}
	r.Filled = slices.DeleteFunc(r.Filled, func(i int) bool { return i >= len(r.begun) })
	return nil, ErrTooLong
}

// skip skips the rest of a record that is too long.
func (r *Reader) skip(scan recordScan) error {
	if _, err := r.bounded(r.buf[r.start:r.end]); err != ErrTooLong {
		return err
	}
	for {
		r.start, r.end = 0, 0
		if r.srcErr != nil {
			r.lines += scan.lines
			r.Unended = true
			if r.srcErr != io.EOF {
				return r.srcErr
			}
			if scan.quoted {
				return errOpenQuote
			}
			return ErrTooLong
		}
		r.refill()
		if n, found := scan.find(r.buf[:r.end]); found {
			r.start = n + 1
			r.lines += scan.lines
			return ErrTooLong
		}
	}
}

// refill moves the record to the buffer's start, makes room and reads more. It returns by how many bytes the record
// moved.
func (r *Reader) refill() (moved int) {
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

// Split divides a record into cells and undoes the quoting in place.
func (r *Reader) Split(raw []byte) ([][]byte, error) {
	r.cells, r.Filled = r.cells[:0], r.Filled[:0]
	plain := bytes.IndexByte(raw, '"') < 0
	for {
		var cell []byte
		var err error
		rest := raw
		if plain || len(raw) == 0 || raw[0] != '"' {
			cell, rest, err = bareCell(raw, r.Separator, plain)
		} else {
			cell, rest, err = quotedCell(raw, r.Separator)
		}
		if err != nil {
			return nil, &cellError{cell: len(r.cells), err: err}
		}
		if len(cell) > 0 {
			r.Filled = append(r.Filled, len(r.cells))
		}
		r.cells = append(r.cells, cell)
		if rest == nil {
			return r.cells, nil
		}
		raw = rest
	}
}

// bareCell cuts off a cell without quotes; rest is nil after the last cell.
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

// quotedCell cuts off a cell in quotes and undoes its doubled quotes in place.
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

// cellError is a fault in a record's quoting; cell is the cell's index, from 0.
type cellError struct {
	cell int
	err  error
}

func (e *cellError) Error() string { return fmt.Sprintf("cell %d: %v", e.cell+1, e.err) }
func (e *cellError) Unwrap() error { return e.err }

// recordScan looks for the end of a record: a line end after an even number of quotes. If the quoting is damaged, the
// record it finds may be too long, but it contains the fault.
type recordScan struct {
	plain  bool // quotes have no meaning
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
