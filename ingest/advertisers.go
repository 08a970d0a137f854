package ingest

import (
	"cmp"
	"context"
	"io"
	"slices"
	"strings"
)

// Advertisers returns the names of the advertisers that the rows of a file name, those
// that are skipped or rejected aside. Errors: those of Run for a file that cannot be read.
func Advertisers(ctx context.Context, file io.Reader, o Options) (names []string, err error) {
	o.Advertiser = strings.TrimSpace(o.Advertiser) // as Run does
	in, err := open(ctx, "-", file)
	if err != nil {
		return nil, err
	}
	in.name = cmp.Or(o.StdinName, "-")
	src, err := in.source(o, &campaignTypes{})
	if err != nil {
		return nil, fileFault(in.name, 1, 1, err)
	}
	for {
		var e entry
		if err := src.next(&e); err == io.EOF {
			return names, nil
		} else if err != nil {
			record, line := src.position()
			return nil, fileFault(in.name, record, line, err)
		}
		if e.reject == nil && (e.skipped == "" || e.pauses) && !slices.Contains(names, e.advertiser) {
			names = append(names, e.advertiser)
		}
	}
}

// Cell is a cell of a row.
type Cell struct {
	Column string `json:"column"`
	Text   string `json:"text"`
	// Wrong: a reject is about it.
	Wrong bool `json:"wrong,omitempty"`
}

// rowCells returns the cells of a rejected row that are filled, or wrong: by column, then those
// that belong to none that is known.
func (s *editorSource) rowCells(of *Reject) (list []Cell) {
	for c := range columns {
		text, wrong := s.cell(c), of.Column == c.String() || of.Column == cellName(s.layout.cell[c])
		if len(text) > 0 || wrong {
			list = append(list, Cell{c.String(), string(text), wrong})
		}
	}
	for _, i := range s.layout.unnamed {
		if text := s.cellAt(i); of.Column == s.layout.header(i) && len(text) > 0 {
			list = append(list, Cell{of.Column, string(text), true})
		}
	}
	for i := s.layout.width(); i < len(s.cells); i++ {
		if text := s.cellAt(i); len(text) > 0 {
			list = append(list, Cell{cellName(i), string(text), of.Column == cellName(i)})
		}
	}
	return list
}
