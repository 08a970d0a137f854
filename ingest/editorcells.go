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

// cell returns a cell without outer white space, or nil if it is empty or there is
// no such column.
func (s *editorSource) cell(c column) []byte {
	return s.cellAt(s.layout.cell[c])
}

// cellAt is cell by the cell's index, which is −1 if there is no such column.
func (s *editorSource) cellAt(i int) []byte {
	if i < 0 || i >= len(s.cells) || len(s.cells[i]) == 0 {
		return nil
	}
	return bytes.TrimSpace(s.cells[i])
}

func (s *editorSource) filled(c column) bool { return len(s.cell(c)) > 0 }

func (s *editorSource) anyHeadline() bool {
	for c := colHeadline1; c < colDescription1; c++ {
		if s.filled(c) {
			return true
		}
	}
	return false
}

// checked returns a cell that must be valid text.
func (s *editorSource) checked(c column) []byte {
	cell := s.cell(c)
	s.note(c, values.CheckText(cell))
	return cell
}

var errErase = errors.New("[] restores a default; this column has none")

// text returns a cell that has no default to restore.
func (s *editorSource) text(c column) string {
	cell := s.checked(c)
	if string(cell) == "[]" {
		s.note(c, errErase)
	}
	return string(cell)
}

// patch reads a cell as a change: empty none, [] the default, else by parse.
func patch[T comparable](s *editorSource, c column, parse func(string) (T, error)) backend.Patch[T] {
	cell := s.checked(c)
	switch {
	case len(cell) == 0:
		return backend.Patch[T]{}
	case string(cell) == "[]":
		return backend.Patch[T]{Op: backend.Reset}
	}
	v, err := parse(string(cell))
	if err != nil {
		s.note(c, err)
		return backend.Patch[T]{}
	}
	return backend.To(v)
}

// quality reads Quality score. What reports write for a missing value counts as an empty cell, and
// of n/10 the n counts.
func (s *editorSource) quality() backend.Patch[uint8] {
	if raw := s.cell(colQuality); len(raw) == 0 || values.Digits(string(raw)) {
		return patch(s, colQuality, values.ParseQuality)
	}
	cell := string(s.cell(colQuality))
	number, outOf := strings.CutSuffix(cell, "/10")
	switch values.Plain(cell) {
	case "", "–", "—", "n/a":
		s.qualities.add(1, rejected.Quote(cell))
		return backend.Patch[uint8]{}
	}
	if outOf {
		n, err := values.ParseQuality(number)
		s.note(colQuality, err)
		s.qualities.add(1, rejected.Quote(cell))
		return backend.To(n)
	}
	return patch(s, colQuality, values.ParseQuality)
}

// languages reads Languages. All of them lift a restriction on the campaign's own row; on other rows
// the word is only repeated.
func (s *editorSource) languages(e *entry) backend.Patch[backend.Languages] {
	p := patch(s, colLanguages, values.ParseLanguages)
	if p.Op != backend.Set || p.Value != "" {
		return p
	}
	if e.kind == kindCampaign {
		return backend.Patch[backend.Languages]{Op: backend.Reset}
	}
	return backend.Patch[backend.Languages]{}
}

// date reads a date; what exports write where there is none erases it.
func (s *editorSource) date(c column) backend.Patch[string] {
	if cell := s.cell(c); len(cell) > 0 && values.IsNoDate(string(cell)) {
		return backend.Patch[string]{Op: backend.Reset}
	}
	return patch(s, c, values.ParseDateCell)
}

// choice reads a cell that says one of two, and has no [].
func (s *editorSource) choice(c column, parse func(string) (bool, error)) backend.Patch[bool] {
	cell := s.text(c)
	if cell == "" || cell == "[]" {
		return backend.Patch[bool]{}
	}
	v, err := parse(cell)
	s.note(c, err)
	return backend.To(v)
}

func (s *editorSource) status(c column) backend.Status {
	cell := s.text(c)
	if cell == "" || cell == "[]" {
		return backend.Keep
	}
	status, err := values.ParseStatus(cell)
	s.note(c, err)
	return status
}

// texts returns the filled cells of n columns in order.
func (s *editorSource) texts(first column, n int) []string {
	var out []string
	for c := first; c < first+column(n); c++ {
		if text := s.text(c); text != "" {
			out = append(out, text)
		}
	}
	return out
}

// joinedWords returns a keyword's normalised words, joined by one space.
func (s *editorSource) joinedWords(text string) string {
	joined, err := joinWords(&s.words, text)
	s.note(colKeyword, err)
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
	// Wrong: a reject is about it.
	Wrong bool `json:"wrong,omitempty"`
}

// rowCells returns the cells of a rejected row that are filled, or wrong: by column, then those
// that belong to none that is known.
func (s *editorSource) rowCells(of *rejected.Row) (list []Cell) {
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
