package ingest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"adshard/ingest/rejected"
	"adshard/ingest/textfile"
	"adshard/ingest/values"
)

// column is a column of the Editor format that an import reads (settings.gen.go). A row's columns are checked for
// faults in this order (serving.md §7).
type column uint8

// Columns that are read and never written.
const (
	colAccountName   = writtenColumns
	colKeywordStatus = colAccountName + 1
	colAdStatus      = colKeywordStatus + 1
	colType          = colAdStatus + 1
	colCampaignType  = colType + 1

	colCampaignOriginal = colCampaignType + 1
	colAdGroupOriginal  = colCampaignOriginal + 1
	columns             = colAdGroupOriginal + 1
)

// maxHeader is the most bytes of a header record.
const maxHeader = 64 << 10

// readNames holds the names of the columns that are read and never written, the main name first.
var readNames = [columns - writtenColumns][]string{
	{"Account name"}, {"Keyword Status"}, {"Ad Status"}, {"Type"}, {"Campaign Type", "Advertising channel type"},
	{"Campaign#Original"}, {"Ad Group#Original"},
}

// names returns the names of a column, the main name first.
func (c column) names() []string {
	if c < writtenColumns {
		return writtenNames[c]
	}
	return readNames[c-writtenColumns]
}

// String returns the column's main name, the first in serving.md §7.
func (c column) String() string { return c.names()[0] }

func ordinal(n int) string {
	suffix := "th"
	if n%100 < 11 || n%100 > 13 {
		switch n % 10 {
		case 1:
			suffix = "st"
		case 2:
			suffix = "nd"
		case 3:
			suffix = "rd"
		}
	}
	return fmt.Sprintf("%d%s", n, suffix)
}

// separators are the possible separators of cells, unless a line sep=X names the separator. If several yield equally
// many columns, the last of them is chosen.
const separators = ",;\t"

// readHeader reads the header record, the first that is not blank and not a line
// sep=X, and detects the separator: the one that yields the most known columns.
func readHeader(r *textfile.Reader, needAccount bool) (layout, error) {
	candidates := separators
	for {
		raw, err := r.Raw()
		if err != nil || len(raw) > maxHeader {
			return layout{}, headerFault(err)
		}
		if blankRecord(raw) {
			continue
		}
		if sep, ok := separatorLine(raw); ok && len(candidates) > 1 {
			if sep == "" || !strings.Contains(separators, sep) {
				return layout{}, fmt.Errorf("%s in the first line: only tabs, commas and semicolons can separate cells", rejected.Quote(string(raw)))
			}
			candidates = sep
			continue
		}
		r.Record = 1
		return headerOf(r, raw, candidates, needAccount)
	}
}

// blankRecord reports whether a record before the header is blank.
func blankRecord(raw []byte) bool {
	return len(bytes.TrimFunc(raw, func(r rune) bool {
		return unicode.IsSpace(r) || r == '"' || strings.ContainsRune(separators, r)
	})) == 0
}

// separatorLine reads a line such as sep=; that spreadsheets write and obey. ok is false if the line is not one.
func separatorLine(raw []byte) (sep string, ok bool) {
	line := strings.Trim(string(raw), "\" ")
	if len(line) < 4 || !strings.EqualFold(line[:4], "sep=") {
		return "", false
	}
	return line[4:], len(line) <= 5
}

func headerOf(r *textfile.Reader, raw []byte, candidates string, needAccount bool) (best layout, err error) {
	names := knownNames()
	most, sep := -1, byte(0)
	for i := range len(candidates) {
		l, found, e := layoutBy(r, candidates[i], raw, names)
		if found > most || found == most && e == nil {
			best, err, most, sep = l, e, found, candidates[i]
		}
	}
	r.Separator = sep
	if err != nil {
		return layout{}, err
	}
	if err = checkHeader(best, most, raw, needAccount); err != nil && most == 0 {
		err = fmt.Errorf("%w%s", err, headerBelow(r, names))
	}
	return best, err
}

// titleRecords is the number of records that are searched for a header below a first line that is not a header.
const titleRecords = 30

// headerBelow returns a hint at a header further down, since reports have titles above it, or "" if no header is
// found.
func headerBelow(r *textfile.Reader, names map[string]knownName) string {
	record, line := r.Record, r.Line
	defer func() { r.Record, r.Line = record, line }() // the fault is in that record
	for range titleRecords {
		raw, err := r.Raw()
		if err != nil || len(raw) > maxHeader {
			return ""
		}
		for i := range len(separators) {
			if l, found, err := layoutBy(r, separators[i], raw, names); err == nil && found > 1 && l.cell[colCampaign] >= 0 {
				return fmt.Sprintf("; line %d looks like them: remove the lines above it", r.Line)
			}
		}
	}
	return ""
}

// layoutBy reads a header whose cells are separated by sep.
func layoutBy(r *textfile.Reader, sep byte, raw []byte, names map[string]knownName) (layout, int, error) {
	r.Separator = sep
	cells, err := r.Split(bytes.Clone(raw)) // Split works in place
	if err != nil {
		return layout{}, 0, err
	}
	return layoutOf(cells, names)
}

func headerFault(err error) error {
	switch {
	case err == io.EOF:
		return errors.New("the file is empty")
	case err == nil || errors.Is(err, textfile.ErrTooLong):
		return fmt.Errorf("the header is longer than %d bytes: is this a Google Ads Editor file?", maxHeader)
	}
	return err
}

func checkHeader(l layout, found int, raw []byte, needAccount bool) error {
	switch {
	case bytes.IndexByte(raw, 0) >= 0:
		return errors.New("the header has zero bytes: UTF-16 needs a byte order mark; save the file as UTF-8 or as UTF-16 with one")
	case bytes.IndexByte(raw, '\r') >= 0:
		return errors.New("lines end with a single carriage return: save the file with LF or CRLF line ends")
	case found == 0 && bytes.HasPrefix(bytes.TrimSpace(raw), []byte("<")):
		return errors.New("the file is a web page or XML, perhaps one that asks to log in: get the file itself, as CSV")
	case found == 0:
		return fmt.Errorf("no column of a Google Ads Editor file is in the header (Account, Campaign, Ad Group, Keyword, …), "+
			"with tabs, commas or semicolons between: name the columns in the first line, with nothing above it%s", languageHint(raw))
	case l.cell[colCampaign] < 0:
		return fmt.Errorf("no column Campaign: each row needs one%s", languageHint(raw))
	case l.cell[colAccount] < 0 && needAccount:
		return errors.New("no column Account: add it, or name the advertiser of the whole file by --advertiser")
	}
	return nil
}

// languageHint returns a hint for a record that looks like a header in another language, that is, one of several
// cells which are all words. It returns "" for other records.
func languageHint(raw []byte) string {
	if !utf8.Valid(raw) {
		return "; " + values.ErrEncoding.Error()
	}
	cells := strings.FieldsFunc(string(raw), func(r rune) bool { return strings.ContainsRune(separators, r) })
	for _, cell := range cells {
		if !strings.ContainsFunc(cell, unicode.IsLetter) || strings.Contains(cell, "://") || strings.Contains(cell, "@") {
			return ""
		}
	}
	if len(cells) < 2 {
		return ""
	}
	return `; if these are their names in another language, export the file again with the language "English"`
}
