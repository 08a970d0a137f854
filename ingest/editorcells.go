package ingest

import (
	"bytes"
	"errors"
	"strings"

	"adshard/backend"
	"adshard/ingest/rejected"
	"adshard/ingest/values"
	"adshard/search/words"
)

// editorRow is the row that is being read.
type editorRow struct {
	layout layout // its colStatus is the status column for rows of this kind
	cells  [][]byte
	fault  column // first column at fault
	err    error  // what is wrong in it, or nil if nothing is wrong so far
}

// cell returns a cell without outer white space, or nil if it is empty or the column is missing.
func (r *editorRow) cell(c column) []byte {
	return r.cellAt(r.layout.cell[c])
}

// cellAt is like cell, but takes the index of the cell, which is −1 if the column is missing.
func (r *editorRow) cellAt(i int) []byte {
	if i < 0 || i >= len(r.cells) || len(r.cells[i]) == 0 {
		return nil
	}
	return bytes.TrimSpace(r.cells[i])
}

func (r *editorRow) filled(c column) bool { return len(r.cell(c)) > 0 }

func (r *editorRow) anyHeadline() bool {
	for c := colHeadline1; c < colDescription1; c++ {
		if r.filled(c) {
			return true
		}
	}
	return false
}

// checked returns a cell and notes an error if it is not valid text.
func (r *editorRow) checked(c column) []byte {
	cell := r.cell(c)
	r.note(c, values.CheckText(cell))
	return cell
}

var errErase = errors.New("[] restores a default; this column has none")

// text returns a cell that has no default to restore; it notes an error for [].
func (r *editorRow) text(c column) string {
	cell := r.checked(c)
	if string(cell) == "[]" {
		r.note(c, errErase)
	}
	return string(cell)
}

// patch reads a cell as a change: an empty cell changes nothing, [] restores the default, and parse reads any other.
func patch[T comparable](r *editorRow, c column, parse func(string) (T, error)) backend.Patch[T] {
	cell := r.checked(c)
	switch {
	case len(cell) == 0:
		return backend.Patch[T]{}
	case string(cell) == "[]":
		return backend.Patch[T]{Op: backend.Reset}
	}
	v, err := parse(string(cell))
	if err != nil {
		r.note(c, err)
		return backend.Patch[T]{}
	}
	return backend.To(v)
}

// quality reads Quality score. What reports write for a missing value is read as an empty cell, and n/10 is read as
// n.
func (s *editorSource) quality() backend.Patch[uint8] {
	if raw := s.row.cell(colQuality); len(raw) == 0 || values.Digits(string(raw)) {
		return patch(&s.row, colQuality, values.ParseQuality)
	}
	cell := string(s.row.cell(colQuality))
	number, outOf := strings.CutSuffix(cell, "/10")
	switch values.Plain(cell) {
	case "", "–", "—", "n/a":
		s.qualities.add(1, rejected.Quote(cell))
		return backend.Patch[uint8]{}
	}
	if outOf {
		n, err := values.ParseQuality(number)
		s.row.note(colQuality, err)
		s.qualities.add(1, rejected.Quote(cell))
		return backend.To(n)
	}
	return patch(&s.row, colQuality, values.ParseQuality)
}

// languages reads Languages. A list of all languages lifts the restriction if it is on the campaign's own row. Other
// rows only repeat it, so there it changes nothing.
func (s *editorSource) languages(e *entry) backend.Patch[backend.Languages] {
	p := patch(&s.row, colLanguages, values.ParseLanguages)
	if p.Op != backend.Set || p.Value != "" {
		return p
	}
	if e.kind == kindCampaign {
		return backend.Patch[backend.Languages]{Op: backend.Reset}
	}
	return backend.Patch[backend.Languages]{}
}

// date reads a date. What exports write for a missing date erases it.
func (r *editorRow) date(c column) backend.Patch[string] {
	if cell := r.cell(c); len(cell) > 0 && values.IsNoDate(string(cell)) {
		return backend.Patch[string]{Op: backend.Reset}
	}
	return patch(r, c, values.ParseDateCell)
}

// choice reads a cell that holds one of two values. The cell has no default to restore.
func (r *editorRow) choice(c column, parse func(string) (bool, error)) backend.Patch[bool] {
	cell := r.text(c)
	if cell == "" || cell == "[]" {
		return backend.Patch[bool]{}
	}
	v, err := parse(cell)
	r.note(c, err)
	return backend.To(v)
}

func (r *editorRow) status(c column) backend.Status {
	cell := r.text(c)
	if cell == "" || cell == "[]" {
		return backend.Keep
	}
	status, err := values.ParseStatus(cell)
	r.note(c, err)
	return status
}

// texts returns the filled cells of n columns, in column order.
func (r *editorRow) texts(first column, n int) []string {
	var out []string
	for c := first; c < first+column(n); c++ {
		if text := r.text(c); text != "" {
			out = append(out, text)
		}
	}
	return out
}

// joinedWords returns a keyword's normalised words, joined by one space.
func (s *editorSource) joinedWords(text string) string {
	joined, err := joinWords(&s.words, text)
	s.row.note(colKeyword, err)
	return joined
}

func joinWords(a *words.Analyser, text string) (string, error) {
	found, err := a.Keyword(text)
	if err != nil {
		return "", err
	}
	return words.Join(found), nil
}

// Cell is a cell of a row.
type Cell struct {
	Column string `json:"column"`
	Text   string `json:"text"`
	// Wrong says that the row was rejected because of this cell.
	Wrong bool `json:"wrong,omitempty"`
}

// rowCells returns the filled cells of a rejected row and the cell at fault: first those of known columns, in column
// order, then those of unknown columns.
func (r *editorRow) rowCells(of *rejected.Row) (list []Cell) {
	for c := range columns {
		text, wrong := r.cell(c), of.Column == c.String() || of.Column == cellName(r.layout.cell[c])
		if len(text) > 0 || wrong {
			list = append(list, Cell{c.String(), string(text), wrong})
		}
	}
	for _, i := range r.layout.unnamed {
		if text := r.cellAt(i); of.Column == r.layout.header(i) && len(text) > 0 {
			list = append(list, Cell{of.Column, string(text), true})
		}
	}
	for i := r.layout.width(); i < len(r.cells); i++ {
		if text := r.cellAt(i); len(text) > 0 {
			list = append(list, Cell{cellName(i), string(text), of.Column == cellName(i)})
		}
	}
	return list
}
