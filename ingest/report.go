package ingest

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"adshard/blocklist"
	"adshard/ingest/tsv"
	"adshard/ingest/values"
	"adshard/places"
)

// IsRejects reports whether r is empty or is a report that an import wrote to Options.Rejects.
func IsRejects(r io.Reader) bool {
	names := fieldNames[:]
	for c := range columns {
		names = append(names, c.String())
	}
	names = append(names, blocklist.FieldAdvertisers, listNames, blocklist.FieldDomains, blocklist.FieldCategories, blocklist.FieldUncategorised)
	for f := range places.Fields {
		names = append(names, f.String())
	}
	return tsv.All(r, func(_ int, line string) bool { return isReject(strings.Split(line, "\t"), names) })
}

// isReject reports whether a line is one that rejected.Writer would write.
func isReject(cells, names []string) bool {
	if len(cells) != 4 || !values.Digits(cells[1]) || cells[3] == "" {
		return false
	}
	number, ofCell := strings.CutPrefix(cells[2], "cell ")
	return cells[2] == "" || ofCell && values.Digits(number) || slices.Contains(names, cells[2]) ||
		strings.HasPrefix(cells[3], errUnknownField.Error()) || strings.HasPrefix(cells[3], errHiddenNegative.Error())
}

// Warning is a warning about a row that was imported.
type Warning struct {
	File   string
	Record int64
	Column string
	Text   string
}

// String returns the warning as one sentence.
func (w Warning) String() string {
	return fmt.Sprintf("%s: row %d, %s: %s", w.File, w.Record, w.Column, w.Text)
}
