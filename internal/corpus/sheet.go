package corpus

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Encoding is a file's character encoding.
type Encoding string

// The encodings. UTF16, which Google Ads Editor writes, is little endian with a byte order mark.
const (
	UTF16 Encoding = "utf-16"
	UTF8  Encoding = "utf-8"
)

// cellOf is a column of the files that are written here.
type cellOf int

const (
	account cellOf = iota
	campaign
	budget
	languages
	rotation
	group
	maxCPC
	desktop
	mobile
	tablet
	keywordText
	criterion
	quality
	finalURL
	adType
	headline1
	headline2
	headline3
	headline4
	headline5
	description1
	description2
	path1
	path2
	campaignStatus
	groupStatus
	status
	cells
)

var header = [cells]string{"Account", "Campaign", "Campaign Daily Budget", "Languages", "Ad rotation", "Ad Group",
	"Max CPC", "Desktop Bid Modifier", "Mobile Bid Modifier", "Tablet Bid Modifier", "Keyword", "Criterion Type",
	"Quality score", "Final URL", "Ad type", "Headline 1", "Headline 2", "Headline 3", "Headline 4", "Headline 5",
	"Description 1", "Description 2", "Path 1", "Path 2", "Campaign Status", "Ad Group Status", "Status"}

// sheet writes rows as tab-separated records. The zero value drops them.
type sheet struct {
	out  *bufio.Writer
	wide bool // UTF-16
	line []byte
	// wideLine is line as UTF-16.
	wideLine []byte
	row      [cells]string
	rows     int64 // without the header
	bytes    int64
	err      error
}

func newSheet(w io.Writer, e Encoding) (*sheet, error) {
	s := &sheet{out: bufio.NewWriterSize(w, 256<<10)}
	switch e {
	case UTF16, "":
		s.wide = true
		s.bytes, s.err = 2, s.out.WriteByte(0xFF)
		_ = s.out.WriteByte(0xFE) // an error is kept in out and returned by flush
	case UTF8:
	default:
		return nil, fmt.Errorf("corpus: unknown encoding %q: %s or %s", e, UTF16, UTF8)
	}
	s.row = header
	s.write()
	s.rows = 0
	return s, s.err
}

// write writes the row and begins an empty one.
func (s *sheet) write() {
	if s.out == nil {
		s.row = [cells]string{}
		return
	}
	s.line = s.line[:0]
	for i, text := range s.row {
		if i > 0 {
			s.line = append(s.line, '\t')
		}
		s.line = appendCell(s.line, text)
	}
	s.line = append(s.line, '\r', '\n')
	s.row = [cells]string{}
	s.rows++
	if s.wide {
		s.writeWide()
		return
	}
	s.bytes += int64(len(s.line))
	_, s.err = s.out.Write(s.line)
}

func (s *sheet) writeWide() {
	s.wideLine = s.wideLine[:0]
	for _, r := range string(s.line) {
		if a, b := utf16.EncodeRune(r); a != utf8.RuneError {
			s.wideLine = append(s.wideLine, byte(a), byte(a>>8), byte(b), byte(b>>8))
			continue
		}
		s.wideLine = append(s.wideLine, byte(r), byte(r>>8))
	}
	s.bytes += int64(len(s.wideLine))
	_, s.err = s.out.Write(s.wideLine)
}

func (s *sheet) flush() error {
	if s.err != nil {
		return s.err
	}
	return s.out.Flush()
}

// appendCell appends a text as a cell, in quotes if RFC 4180 requires them.
func appendCell(b []byte, text string) []byte {
	if !strings.ContainsAny(text, "\t\"\r\n") {
		return append(b, text...)
	}
	b = append(b, '"')
	b = append(b, strings.ReplaceAll(text, `"`, `""`)...)
	return append(b, '"')
}
