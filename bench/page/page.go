// Package page is what the HTML pages of adbench have in common: a verdict, then
// charts and tables, the commands that measured them with commit, machine and
// load. A page needs nothing else: no network, no script.
//
// Goals: legible on a phone and by night; the same look for all. Non-goals:
// anything interactive.
package page

import (
	_ "embed"
	"html/template"
	"io"
	"math"
	"strings"

	"adshard/bench/measure"
)

//go:embed page.html
var text string

// Page is one page.
type Page struct {
	// Title distinguishes this page from all others.
	Title string
	// Lead says what was compared, Verdict what came out, a sentence a line.
	Lead    string
	Verdict []string
	// Made says by what the figures came to be.
	Made     []Made
	Notes    []string
	Sections []Section
	Terms    []Term
	Details  []Detail
}

// Made is a command with the circumstances of its run.
type Made struct {
	Command string
	// Commit is that of the program, as measure.Commit gives it; Packages are the
	// directories of the repository whose changes make the figures old.
	Commit   string
	Packages []string
	// About is the date, the machine and the like.
	About []string
}

// Mark is what `adbench figures-age` reads.
func (m *Made) Mark() string { return Mark(m.Commit, m.Packages) }

// Section is a part of the page under a heading.
type Section struct {
	Title, Note string
	Charts      []template.HTML
	Tables      []*Table
}

// Term is a word of the page and what it means.
type Term struct{ Word, Means string }

// Detail is lines that are shown when asked for.
type Detail struct {
	Title string
	Lines []string
}

// Table is rows under a header, in groups.
type Table struct {
	Title, Note string
	Header      []string
	Groups      []Group
}

// Group is rows that are compared with each other, under a name of their own
// unless it is "".
type Group struct {
	Name string
	Rows [][]Cell
}

// Cell is a number or a word of a table. Best is marked, so is Bad.
type Cell struct {
	Text      string
	Best, Bad bool
}

// Cells makes cells of texts.
func Cells(texts ...string) []Cell {
	out := make([]Cell, len(texts))
	for i, t := range texts {
		out[i].Text = t
	}
	return out
}

// Chart takes the SVG of package chart, which escapes its texts.
func Chart(svg string) template.HTML { return template.HTML(svg) }

// Write writes the page.
func (p *Page) Write(w io.Writer) error {
	t, err := template.New("page").Parse(text)
	if err != nil {
		return err
	}
	return t.Execute(w, p)
}

// Best reports which of some values is the least, or with most the largest; a missing one (NaN)
// is never the best, nor is a single one, nor one of several that are shown alike.
func Best(values []float64, most bool) []bool {
	best, known, shared := math.NaN(), 0, 0
	for _, v := range values {
		if math.IsNaN(v) {
			continue
		}
		if known == 0 || most && v > best || !most && v < best {
			best = v
		}
		known++
	}
	out := make([]bool, len(values))
	for i, v := range values {
		out[i] = known > 1 && v == best
		if !math.IsNaN(v) && measure.Number(v) == measure.Number(best) {
			shared++
		}
	}
	if shared > 1 {
		clear(out)
	}
	return out
}

// MarkBest marks the best cells of a column; values are those of the rows.
func MarkBest(rows [][]Cell, column int, values []float64, most bool) {
	for i, best := range Best(values, most) {
		rows[i][column].Best = best
	}
}

// Mark returns the words by which a page says which commit it measured and what.
func Mark(commit string, packages []string) string {
	return "commit " + commit + "; packages " + strings.Join(packages, " ")
}
