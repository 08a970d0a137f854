// Package countfile reads files of impressions and clicks, which package quality learns from: CSV with a header, or
// JSON lines. Both have the columns campaign, group, keyword, ad (ids, as in answers; that of the ad may be
// missing), position, day (as in 2026-11-23), impressions and clicks. Rows for the same cell add up. The columns
// device, hour (UTC), query_words and site may describe what the requests had in common. Learning qualities ignores
// them; package train reads them.
//
// Goals: bounded memory apart from the counts, exact rejects. Non-goals: single events, names instead of ids.
package countfile

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"time"

	"adshard/fault"
	"adshard/quality"
)

// Reject describes a row that was not counted.
type Reject struct {
	File string
	// Row is the line's number, from 1.
	Row int64
	// Column is the faulty column; "" means the row as a whole.
	Column, Reason string
}

// String returns the reject as one sentence.
func (r Reject) String() string {
	if r.Column == "" {
		return fmt.Sprintf("%s: row %d: %s", r.File, r.Row, r.Reason)
	}
	return fmt.Sprintf("%s: row %d, %s: %s", r.File, r.Row, r.Column, r.Reason)
}

// FirstRejects is the number of rejects that a Summary holds.
const FirstRejects = 10

// Summary summarises what was read from all files.
type Summary struct {
	Rows, Rejected int64
	First          []Reject
	// Newest is the newest day that was counted. It is set only if Rows > Rejected.
	Newest int32
}

// maxLine is the largest length of a line in bytes.
const maxLine = 64 << 10

var bom = []byte{0xEF, 0xBB, 0xBF}

// Read adds the rows of a file to counts, and its summary to sum. Faulty rows are rejected and not counted. Errors:
// those of src, and fault.Invalid if the rest of the file cannot be read; the rows before it have then been counted.
func Read(src io.Reader, name string, counts *quality.Counts, sum *Summary) error {
	f := &file{name: name, sum: sum, columns: device, take: func(r *Row) error { return counts.Add(r.Cell, r.Count) }}
	return f.readAll(src)
}

// Each calls take with each row of a file, including its columns about requests, and adds to sum. Rejects and errors
// are as in Read. An error of take ends it.
func Each(src io.Reader, name string, sum *Summary, take func(*Row) error) error {
	f := &file{name: name, sum: sum, columns: columns, take: take}
	return f.readAll(src)
}

// readAll reads the lines of a file.
func (f *file) readAll(src io.Reader) error {
	lines := bufio.NewScanner(src)
	lines.Buffer(make([]byte, 0, 4<<10), maxLine)
	for lines.Scan() {
		f.line++
		line := lines.Bytes()
		if f.line == 1 {
			line = bytes.TrimPrefix(line, bom)
		}
		line = bytes.TrimSpace(line)
		if len(line) == 0 {
			continue
		}
		if err := f.read(line); err != nil {
			return fault.Newf(fault.Invalid, "countfile: read", "%s: row %d: %w", f.name, f.line, err)
		}
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		return fault.Newf(fault.Invalid, "countfile: read", "%s: row %d is longer than %d bytes: this is not a file of counts", f.name, f.line+1, maxLine)
	}
	return lines.Err()
}

// file is a file that is being read.
type file struct {
	name   string
	line   int64
	header []column // of CSV; empty until it has been read
	json   bool
	// columns is the first column that is not read.
	columns column
	take    func(*Row) error
	sum     *Summary
}

// read reads a line. An error ends the file.
func (f *file) read(line []byte) error {
	if !f.json && len(f.header) == 0 {
		if line[0] != '{' {
			return f.readHeader(string(line))
		}
		f.json = true
	}
	f.sum.Rows++
	r, err := f.row(line)
	if err == nil {
		err = r.Cell.Validate()
	}
	if err != nil {
		f.reject(err)
		return nil
	}
	if err := f.take(&r); err != nil {
		return err
	}
	if f.sum.Rows == f.sum.Rejected+1 || r.Cell.Day > f.sum.Newest {
		f.sum.Newest = r.Cell.Day
	}
	return nil
}

func (f *file) row(line []byte) (Row, error) {
	if f.json {
		return f.jsonRow(line)
	}
	return csvRow(string(line), f.header)
}

func (f *file) reject(err error) {
	f.sum.Rejected++
	if len(f.sum.First) < FirstRejects {
		f.sum.First = append(f.sum.First, Reject{File: f.name, Row: f.line, Column: fault.FieldOf(err), Reason: fault.Cause(err)})
	}
}

// dayForm is the format of days.
const dayForm = "2006-01-02"

const secondsOfDay = 24 * 60 * 60

// ParseDay reads a day such as 2026-11-23.
func ParseDay(text string) (int32, error) {
	t, err := time.Parse(dayForm, text)
	if err != nil {
		return 0, fault.Field("countfile: day", "day", "%q is not a day such as 2026-11-23", clipped(text))
	}
	return int32(t.Unix() / secondsOfDay), nil // years have four digits
}

// FormatDay writes a day in the form 2026-11-23.
func FormatDay(day int32) string {
	return time.Unix(int64(day)*secondsOfDay, 0).UTC().Format(dayForm)
}

// clipped shortens a text for the reason of a reject.
func clipped(text string) string {
	const most = 40
	if len(text) > most {
		return text[:most] + "…"
	}
	return text
}
