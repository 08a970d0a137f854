package ingest

import "bytes"

// Kinds of records that hold no data of their own.
const (
	kindEmptyRow = "empty row"
	kindHeader   = "repeated header"
	kindTotal    = "total"
)

// noData returns the kind of a record that holds no data, else "".
func (s *editorSource) noData() string {
	first := 0
	for first < len(s.cells) && len(s.cellAt(first)) == 0 {
		first++
	}
	switch {
	case first == len(s.cells):
		return kindEmptyRow
	case s.repeatsHeader(first):
		return kindHeader
	case totals(s.cellAt(first)) && !s.filled(colAdType) && !s.anyHeadline() && dashless(string(s.cell(colKeyword))) == "" &&
		!(first == s.layout.cell[colAccount] && s.filled(colCampaign)): // an advertiser may be called so
		return kindTotal
	}
	return ""
}

// repeatsHeader reports whether the record is the header again, as in files that were joined.
func (s *editorSource) repeatsHeader(first int) bool {
	text := func(i int) []byte {
		return bytes.TrimSpace(bytes.TrimPrefix(s.cells[i], bomUTF8)) // each of the files may have begun with one
	}
	if len(s.cells) != s.layout.width() || !bytes.EqualFold(text(first), bytes.TrimSpace(s.layout.headers[first])) {
		return false
	}
	for i := first + 1; i < len(s.cells); i++ {
		if plainName(string(text(i))) != plainName(string(s.layout.headers[i])) {
			return false
		}
	}
	return true
}

// totals reports whether a row's first filled cell is that of a sum, as reports end with.
func totals(cell []byte) bool {
	const total = "total"
	if len(cell) < len(total) || !bytes.EqualFold(cell[:len(total)], []byte(total)) {
		return false
	}
	rest := cell[len(total):]
	return len(rest) == 0 || rest[0] == ':' || bytes.HasPrefix(rest, []byte(" -"))
}
